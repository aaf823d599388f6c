//! Wind and drag on random triangles and on some without area.

use kiln::algorithms::cloth::air::velocity_change;
use kiln::math::Vec3;
use kiln::math::rows::Rows;
use kiln::solver::gpu::cloth_parts::{AirData, air};
use kiln::solver::gpu::particles::four;
use kiln::solver::gpu::work::Told;

use crate::particles::{Both, pick, rounded};
use crate::{noise, vector};

#[test]
fn air_pushes_as_on_the_processor() {
    for middle in [Vec3::zeros(), Vec3::new(900.0, -400.0, 70.0)] {
        let mut both = Both::random(200, middle);
        let mut next = noise(9);
        let mut triangles: Vec<[u32; 3]> = (0..400).map(|_| pick(&mut next, 200)).collect();
        triangles.extend([[3, 3, 3], [5, 6, 5], [16, 17, 20]]);
        let densities: Vec<f64> = triangles.iter().map(|_| rounded(0.2 + 0.1 * next())).collect();
        let wind: Vec<Vec3> = triangles.iter().map(|_| vector(&mut next).map(rounded) * 8.0).collect();
        let mut shares: Vec<Vec<(u32, f64)>> = vec![Vec::new(); 200];
        for (t, corners) in triangles.iter().enumerate() {
            corners.iter().for_each(|&p| shares[p as usize].push((t as u32, rounded(0.2 + 0.1 * next()))));
        }
        let shares: Rows<(u32, f64)> = shares.into_iter().collect();
        let (gravity, h, drag) = (Vec3::new(0.0, -9.81, 0.0), 1e-3, 1.3);
        let mut data = Told::new(&both.gpu, "air", 1);
        data.tell(&both.gpu, [AirData::new(gravity, h, drag)].into_iter());
        let mut told = Told::new(&both.gpu, "wind", wind.len());
        told.tell(&both.gpu, wind.iter().map(|wind| four(*wind, 0.0)));
        let blow = air(&both.gpu, &both.particles, (&triangles, &densities), &shares, &data, &told);
        both.gpu.run(&blow);
        let (x, v) = (&both.moving.x, &both.moving.v);
        let changes: Vec<Vec3> = (triangles.iter().zip(&densities).zip(&wind))
            .map(|((corners, density), wind)| {
                let [a, b, c] = corners.map(|p| p as usize);
                let area = (x[b] - x[a]).cross(&(x[c] - x[a]));
                let relative = wind - ((v[a] + v[b] + v[c]) / 3.0 + gravity * (0.5 * h));
                velocity_change(area, relative, drag, *density, h)
            })
            .collect();
        let mut expected = v.clone();
        for (i, v) in expected.iter_mut().enumerate().filter(|(i, _)| both.k[*i] > 0.0) {
            shares.row(i).iter().for_each(|&(t, share)| *v += changes[t as usize] * share);
        }
        assert!(changes.iter().any(|change| change.norm() > 0.01), "it blows");
        both.assert_velocities(&expected, 2e-6);
    }
}
