//! Wind and drag.

use crate::support::World;
use kiln::math::Vec3;
use kiln::math::curve::{Curve, Interpolation};
use kiln::scene::Wind;
use kiln::solver::wind::Weather;

fn flag(wind: &str) -> World {
    World::new(&format!(
        r#"
        [scene]
        name = "flag"
        fps = 24
        frames = "0-36"
        [wind]
        {wind}
        [[cloth]]
        name = "flag"
        mesh = {{ sheet = {{ vertices = [13, 9], size = [0.6, 0.4] }} }}
        # not quite vertical: cloth that gives way in its plane would stay in it
        transform = {{ rotate = [85, 0, 0], translate = [0.3, 0, 0] }}
        fabric = "silk"
        pins = [{{ box = {{ min = [-0.01, -1, -1], max = [0.01, 1, 1] }} }}]
        "#
    ))
}

fn free_end(world: &World) -> Vec3 {
    let mut end = Vec3::zeros();
    world.simulate(|frame| {
        assert!(frame.report.bodies[0].used <= 1.0);
        end = frame.vertices[0].positions[12 + 4 * 13];
    });
    end
}

#[test]
fn without_wind_the_flag_hangs_and_with_wind_it_flies() {
    let calm = free_end(&flag("speed = 0"));
    let windy = free_end(&flag("direction = [1, 0, 0.1]\nspeed = 12"));
    assert!(calm.x < 0.3, "hanging: {calm:?}");
    assert!(windy.x > 0.5, "flying: {windy:?}");
}

#[test]
fn another_seed_is_another_weather_and_the_same_seed_the_same() {
    let gusty = |seed: u32| free_end(&flag(&format!("speed = 8\ngust = 0.5\nturbulence = 0.5\nseed = {seed}")));
    assert_eq!(gusty(1), gusty(1));
    assert_ne!(gusty(1), gusty(2));
}

#[test]
fn a_light_sheet_reaches_its_terminal_velocity() {
    let world = World::new(
        r#"
        [scene]
        name = "leaf"
        fps = 24
        frames = "0-48"
        [air]
        drag = 1.3
        [[cloth]]
        name = "leaf"
        mesh = { sheet = { vertices = [5, 5], size = [0.2, 0.2] } }
        density = 0.05
        "#,
    );
    let end = world.simulate(|_| ());
    let terminal = (2.0 * 0.05 * 9.81 / (1.3 * 1.2_f64)).sqrt();
    for v in &end.bodies[0].v {
        assert!((v.y / -terminal - 1.0).abs() < 1e-3, "{} m/s of {terminal} m/s", v.y);
    }
}

#[test]
fn eddies_drift_with_the_wind_and_do_not_jump_when_it_changes() {
    let ramp = vec![(0.0, 2.0), (10_000.0, 12.0)];
    let wind = Wind {
        direction: Curve::constant(Vec3::x()),
        speed: Curve::from_keys(ramp, Interpolation::Linear).unwrap(),
        gust: Curve::constant(0.5),
        turbulence: Curve::constant(0.5),
        seed: 3,
    };
    let (mut drift, mut before) = (Vec3::zeros(), None::<Vec3>);
    for frame in 0..5000 {
        let weather = Weather::at(&wind, f64::from(frame), f64::from(frame) / 100.0, drift);
        let here = weather.velocity(Vec3::new(0.3, 1.0, -0.2));
        // In a hundredth of a second the wind carries its eddies on by less than a quarter of their size.
        let change = before.map_or(0.0, |before| (here - before).norm());
        assert!(change < 2.0, "frame {frame}: the air changes by {change} m/s at once");
        before = Some(here);
        drift = weather.drift_after(0.01);
    }
}
