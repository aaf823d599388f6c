// The rotation that a 3 × 3 matrix is nearest to, as a unit quaternion with its real part first.
//
// Twin: polar.rs      Test: tests/gpu/shapes.rs

// Square of the turn after which the next one would be below rounding, as steps converge cubically [rad²].
const SMALL_TURN_SINGLE: f32 = 1e-6;
// Determinant of H over the cube of its mean eigenvalue below which rounding decides about its sign.
const SINGULAR_SINGLE: f32 = 1e-5;
// Rounds of rotations after which nothing changes any more.
const JACOBI_ROUNDS: u32 = 6u;

fn matrix_of(q: vec4f) -> mat3x3f {
    let w = q.x;
    let p = q.yzw;
    let s = 2.0 * p * p;
    let xy = 2.0 * p.x * p.y;
    let xz = 2.0 * p.x * p.z;
    let yz = 2.0 * p.y * p.z;
    let t = 2.0 * w * p;
    return mat3x3f(
        1.0 - (s.y + s.z), xy + t.z, xz - t.y,
        xy - t.z, 1.0 - (s.x + s.z), yz + t.x,
        xz + t.y, yz - t.x, 1.0 - (s.x + s.y));
}

struct Turned {
    quaternion: vec4f,
    is_there: bool,
}

// Newton's steps from a guess. `a` is about as large as one.
fn turn_towards(a: mat3x3f, guess: vec4f) -> Turned {
    var q = guess;
    for (var n = 0u; n < u32(POLAR_STEPS); n += 1u) {
        // Columns of Rᵀ A.
        let b = transpose(matrix_of(q)) * a;
        let w = vec3f(b[1].z - b[2].y, b[2].x - b[0].z, b[0].y - b[1].x);
        let h00 = b[1].y + b[2].z;
        let h11 = b[0].x + b[2].z;
        let h22 = b[0].x + b[1].y;
        let h01 = -0.5 * (b[1].x + b[0].y);
        let h02 = -0.5 * (b[2].x + b[0].z);
        let h12 = -0.5 * (b[2].y + b[1].z);
        let c0 = vec3f(h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11);
        let c11 = h00 * h22 - h02 * h02;
        let c12 = h01 * h02 - h00 * h12;
        let c22 = h00 * h11 - h01 * h01;
        let determinant = h00 * c0.x + h01 * c0.y + h02 * c0.z;
        let mean = (h00 + h11 + h22) / 3.0;
        if (!(h00 > 0.0 && c22 > 0.0 && determinant > SINGULAR_SINGLE * mean * mean * mean)) { break; }
        let t = vec3f(dot(c0, w), dot(vec3f(c0.y, c11, c12), w), dot(vec3f(c0.z, c12, c22), w)) * (0.5 / determinant);
        let square = dot(t, t);
        if (!(square < 1.0)) { break; }
        q = normalize(vec4f(q.x - dot(q.yzw, t), q.yzw + q.x * t + cross(q.yzw, t)));
        if (square < SMALL_TURN_SINGLE) { return Turned(q, true); }
    }
    return Turned(guess, false);
}

// The largest eigenvector of a symmetric matrix, by Jacobi's rotations.
fn largest_eigenvector(symmetric: mat4x4f) -> vec4f {
    var m = symmetric;
    var vectors = mat4x4f(1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    for (var n = 0u; n < JACOBI_ROUNDS; n += 1u) {
        for (var i = 0u; i < 3u; i += 1u) {
            for (var j = i + 1u; j < 4u; j += 1u) {
                let off = m[i][j];
                if (abs(off) < 1e-20) { continue; }
                let ratio = (m[j][j] - m[i][i]) / (2.0 * off);
                let far = abs(ratio) + sqrt(1.0 + ratio * ratio);
                let t = select(1.0, -1.0, ratio < 0.0) / far;
                let c = inverseSqrt(1.0 + t * t);
                let s = t * c;
                let column = m[i];
                m[i] = c * column - s * m[j];
                m[j] = s * column + c * m[j];
                for (var k = 0u; k < 4u; k += 1u) {
                    let entry = m[k][i];
                    m[k][i] = c * entry - s * m[k][j];
                    m[k][j] = s * entry + c * m[k][j];
                }
                let vector = vectors[i];
                vectors[i] = c * vector - s * vectors[j];
                vectors[j] = s * vector + c * vectors[j];
            }
        }
    }
    var largest = 0u;
    for (var k = 1u; k < 4u; k += 1u) {
        if (m[k][k] > m[largest][largest]) { largest = k; }
    }
    return normalize(vectors[largest]);
}

// Whatever the matrix is: of rotations that are equally near the one next to the guess.
fn rotation(matrix: mat3x3f, guess: vec4f) -> vec4f {
    let entries = max(max(abs(matrix[0]), abs(matrix[1])), abs(matrix[2]));
    let largest = max(entries.x, max(entries.y, entries.z));
    if (!is_finite3(matrix[0] + matrix[1] + matrix[2]) || !is_finite(largest) || !(largest > 1e-36)) { return guess; }
    var a = matrix * (1.0 / largest);
    a *= inverseSqrt(dot(a[0], a[0]) + dot(a[1], a[1]) + dot(a[2], a[2]));
    let found = turn_towards(a, guess);
    if (found.is_there) { return found.quaternion; }
    // The rotation that maximises tr(RᵀB) is an eigenvector of a matrix of quaternions.
    let b = a + matrix_of(guess) * POLAR_GUESS;
    let w = vec3f(b[1].z - b[2].y, b[2].x - b[0].z, b[0].y - b[1].x);
    let trace = b[0].x + b[1].y + b[2].z;
    let symmetric = mat4x4f(
        vec4f(trace, w),
        vec4f(w.x, 2.0 * b[0].x - trace, b[1].x + b[0].y, b[2].x + b[0].z),
        vec4f(w.y, b[1].x + b[0].y, 2.0 * b[1].y - trace, b[2].y + b[1].z),
        vec4f(w.z, b[2].x + b[0].z, b[2].y + b[1].z, 2.0 * b[2].z - trace));
    var slow = largest_eigenvector(symmetric);
    if (dot(slow, guess) < 0.0) { slow = -slow; }
    // Where the matrix alone tells the rotation, the guess must not pull at it.
    return turn_towards(a, slow).quaternion;
}
