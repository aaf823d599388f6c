// Sums over overlapping regions from running sums, and what the kernels of matched shapes share.
//
// Running sums are whole numbers: a sum of these is the same in any order, and the difference of two of them has lost no digit, however large
// they are. They begin anew in every chunk, which is the particles of a workgroup, so that no second kernel has to carry them on: what lies
// between two chunks is the sum of all of the first one, kept behind the rows of the particles.
//
// Several bodies lie behind each other: each begins with a chunk of its own, and what fills up the chunk before has no mass.
//
// Sums over the whole body: each workgroup leaves those of its chunk behind the ways in `work`, and one workgroup a body adds them up.
//
// Twin: fast_summation.rs      Test: tests/gpu/shapes.rs

// What the processor says about a body.
struct Settings {
    volume: f32,
    // What makes twice the sum of area vectors an outward normal in units of the mean one at rest, and that mean.
    normal_unit: f32,
    area: f32,
    alpha: f32,
    beta: f32,
    // The farthest particle from the middle at rest.
    extent: f32,
    // Masses are parts of their mean.
    mass: f32,
    mean_mass: f32,
    largest_way: f32,
    // The most particles in a region.
    most_count: f32,
    // What is larger is no spin of a region, as parts of the speed over the reach.
    most_spin: f32,
    // Part of a velocity that becomes that of the regions in a step.
    damping: f32,
    // The step's square in those for which a stiffness is given.
    faster: f32,
    yields_at: f32,
    // Part of what is beyond the yield that stays.
    stays: f32,
    // One in running sums of turns.
    turn_unit: f32,
    keeps_volume: u32,
    is_free: u32,
    is_plastic: u32,
    first_chunk: u32,
    chunk_count: u32,
    unused_1: u32,
    unused_2: u32,
    unused_3: u32,
}

struct Body {
    settings: Settings,
    // The point from which places count, near the middle, and a power of two that no particle is farther away.
    about: vec3f,
    reach: f32,
    about_next: vec3f,
    is_lost: u32,
    // How it is turned as a whole.
    turn: vec4f,
    // Middle of the look-ahead, and the error of its volume.
    middle: vec3f,
    off: f32,
    // Of the places that momentum is kept about.
    centre: vec3f,
    least_normal: f32,
    inverse_inertia: mat3x3f,
    // What all ways are less.
    shift: vec3f,
    limit: f32,
    spin: vec3f,
    multiplier: f32,
    velocity: vec3f,
    speed: f32,
    // Whether volume lacks or is too much, and how local weights are blended.
    sign: f32,
    local_share: f32,
    alike: f32,
    // One in running sums.
    weight_unit: f32,
    shift_unit: f32,
    spin_unit: f32,
    // Part of the weights before contacts that is added to those that heed them.
    lacking: f32,
    // Whether its weights stay as they are in this turn.
    is_off: u32,
}

struct Particle {
    // On the extent.
    rest: vec3f,
    mass: f32,
    // One over the number of regions that hold it.
    share: f32,
    // Its mass in each of these on the largest mass of a region.
    part: f32,
    stiffness: f32,
    body: u32,
    inner_weight: f32,
    inner_distance: f32,
    across: u32,
    // Square of its area normal at rest, in the units of that.
    square_at_rest: f32,
    // Where its lists begin and end.
    ring: vec2u,
    stretches: vec2u,
}

struct Region {
    // At rest on the extent.
    centre: vec3f,
    inverse_mass: f32,
    // At rest, times the weight of the point along it.
    normal: vec3f,
    unused: f32,
}

// How a region is turned, and the unit normal of its particle.
struct Turn {
    quaternion: vec4f,
    direction: vec4f,
}

// What a step knows of the surface at a particle.
struct Surface {
    // Area normal.
    normal: vec3f,
    // How far along its normal it was moved to its shape.
    risen: f32,
    // Place at the start of the step.
    arm: vec3f,
    mass: f32,
    // How much of a volume that lacks it brings back: in velocities, and in positions, which heed contacts.
    weights: vec2f,
    // How much it is deformed: by what has sunk, and by what has risen.
    local: vec2f,
}

@group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(2) var<storage, read> particles: array<Particle>;
// Each from a particle to before another.
@group(0) @binding(3) var<storage, read> stretches: array<vec2u>;
@group(0) @binding(4) var<storage, read> running_in: array<vec4i>;
@group(0) @binding(5) var<storage, read_write> running_out: array<vec4i>;
@group(0) @binding(6) var<storage, read> x: array<vec4f>;
@group(0) @binding(7) var<storage, read> low: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> d: array<vec4f>;
@group(0) @binding(9) var<storage, read_write> v: array<vec4f>;
@group(0) @binding(10) var<storage, read_write> surface: array<Surface>;
// Ways of the particles, and behind them the sums of chunks.
@group(0) @binding(11) var<storage, read_write> work: array<vec4f>;

// Fixed point: values whose sum over a region is at most one lose nothing larger than this part of one.
const FIXED: f32 = 1073741824.0;

// Chunks of all particles, in kernels for each of these.
fn chunk_count() -> u32 {
    return (span.count + WORKGROUP - 1u) / WORKGROUP;
}

// Up to sixteen columns of running sums.
struct Row {
    a: vec4i,
    b: vec4i,
    c: vec4i,
    e: vec4i,
}

fn nothing() -> Row {
    return Row(vec4i(0), vec4i(0), vec4i(0), vec4i(0));
}

fn plus(p: Row, q: Row) -> Row {
    return Row(p.a + q.a, p.b + q.b, p.c + q.c, p.e + q.e);
}

fn minus(p: Row, q: Row) -> Row {
    return Row(p.a - q.a, p.b - q.b, p.c - q.c, p.e - q.e);
}

fn fixed(value: vec4f) -> vec4i {
    return vec4i(round(value * FIXED));
}

// Whole numbers times some parts of 1024, rounded: sums over a region are large beside what they are about its middle, and differences of whole
// numbers lose nothing.
const PARTS: f32 = 1024.0;

fn part_of(whole: vec3i, parts: vec3i) -> vec3i {
    return (whole >> vec3u(10u)) * parts + (((whole & vec3i(1023)) * parts + 512) >> vec3u(10u));
}

// A power of two that is larger, and at most twice as large. Nothing is lost by dividing by it.
fn power_above(value: f32) -> f32 {
    return 2.0 * bitcast<f32>(bitcast<u32>(clamp(value, 1e-30, 1e30)) & 0x7f800000u);
}

fn row_at(at: u32, width: u32) -> Row {
    var row = nothing();
    row.a = running_in[at];
    if (width > 1u) { row.b = running_in[at + 1u]; }
    if (width > 2u) { row.c = running_in[at + 2u]; }
    if (width > 3u) { row.e = running_in[at + 3u]; }
    return row;
}

// The sum over the stretches of a region. Rows have so many times four columns.
fn sum_over(region: vec2u, width: u32) -> Row {
    var sum = nothing();
    for (var n = region.x; n < region.y; n += 1u) {
        let stretch = stretches[n];
        // At the start of a chunk there is nothing yet.
        if (stretch.y % WORKGROUP != 0u) { sum = plus(sum, row_at(width * stretch.y, width)); }
        if (stretch.x % WORKGROUP != 0u) { sum = minus(sum, row_at(width * stretch.x, width)); }
        for (var chunk = stretch.x / WORKGROUP; chunk < stretch.y / WORKGROUP; chunk += 1u) {
            sum = plus(sum, row_at(width * (chunk_count() * WORKGROUP + chunk), width));
        }
    }
    return sum;
}

var<workgroup> scanned: array<vec4i, 4u * WORKGROUP>;

fn put(at: u32, width: u32, row: Row) {
    scanned[at] = row.a;
    if (width > 1u) { scanned[WORKGROUP + at] = row.b; }
    if (width > 2u) { scanned[2u * WORKGROUP + at] = row.c; }
    if (width > 3u) { scanned[3u * WORKGROUP + at] = row.e; }
}

fn taken(at: u32, width: u32) -> Row {
    var row = nothing();
    row.a = scanned[at];
    if (width > 1u) { row.b = scanned[WORKGROUP + at]; }
    if (width > 2u) { row.c = scanned[2u * WORKGROUP + at]; }
    if (width > 3u) { row.e = scanned[3u * WORKGROUP + at]; }
    return row;
}

fn store(at: u32, width: u32, row: Row) {
    running_out[at] = row.a;
    if (width > 1u) { running_out[at + 1u] = row.b; }
    if (width > 2u) { running_out[at + 2u] = row.c; }
    if (width > 3u) { running_out[at + 3u] = row.e; }
}

// Running sums of a chunk: what is before each particle, and all of it.
fn scan(id: vec3u, local: u32, width: u32, own: Row) {
    put(local, width, own);
    workgroupBarrier();
    for (var far = 1u; far < WORKGROUP; far *= 2u) {
        var sum = taken(local, width);
        if (local >= far) { sum = plus(sum, taken(local - far, width)); }
        workgroupBarrier();
        put(local, width, sum);
        workgroupBarrier();
    }
    let through = taken(local, width);
    let chunk = item(id) / WORKGROUP;
    if (chunk >= chunk_count()) { return; }
    // Also behind the last particle, where the last stretch ends.
    store(width * item(id), width, minus(through, own));
    if (local == WORKGROUP - 1u) { store(width * (chunk_count() * WORKGROUP + chunk), width, through); }
}

// Rows of sums over chunks; the last one is of maxima.
const ROWS: u32 = 8u;
const MOST: u32 = 7u;

var<private> rows: array<vec4f, ROWS>;
var<workgroup> folded: array<vec4f, ROWS * WORKGROUP>;

// What is not a number is larger than everything.
fn at_most(value: f32) -> f32 {
    return select(BROKEN, min(value, BROKEN), is_finite(value));
}

// The first rows of all invocations as one, and their maxima.
fn fold(local: u32, count: u32) {
    for (var r = 0u; r < count; r += 1u) { folded[r * WORKGROUP + local] = rows[r]; }
    folded[MOST * WORKGROUP + local] = rows[MOST];
    workgroupBarrier();
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        if (local < width) {
            for (var r = 0u; r < count; r += 1u) {
                folded[r * WORKGROUP + local] += folded[r * WORKGROUP + local + width];
            }
            let here = MOST * WORKGROUP + local;
            folded[here] = max(folded[here], folded[here + width]);
        }
        workgroupBarrier();
    }
}

// Leave the sums of a chunk.
fn leave(id: vec3u, local: u32, count: u32) {
    fold(local, count);
    let chunk = item(id) / WORKGROUP;
    if (chunk < chunk_count() && (local < count || local == MOST)) {
        work[span.count + ROWS * chunk + local] = folded[local * WORKGROUP];
    }
}

// Add up what the chunks of a body have left; `span.start` is the number of particles.
fn collect(local: u32, body: u32, count: u32) {
    for (var r = 0u; r < ROWS; r += 1u) { rows[r] = vec4f(0.0); }
    let chunks = bodies[body].settings.chunk_count;
    for (var n = local; n < chunks; n += WORKGROUP) {
        let at = span.start + ROWS * (bodies[body].settings.first_chunk + n);
        for (var r = 0u; r < count; r += 1u) { rows[r] += work[at + r]; }
        rows[MOST] = max(rows[MOST], work[at + MOST]);
    }
    fold(local, count);
}

fn all_of(row: u32) -> vec4f {
    return folded[row * WORKGROUP];
}

// Inertia from the sums of squares and products of arms.
fn inertia(squares: vec3f, xy: f32, xz: f32, yz: f32) -> mat3x3f {
    return mat3x3f(
        squares.y + squares.z, -xy, -xz,
        -xy, squares.x + squares.z, -yz,
        -xz, -yz, squares.x + squares.y);
}

// Part of the cube of the mean below which a determinant is only what rounding has left.
const THIN_SINGLE: f32 = 1e-5;

// Zero where particles are on a line.
fn inverse(m: mat3x3f) -> mat3x3f {
    let c0 = cross(m[1], m[2]);
    let c1 = cross(m[2], m[0]);
    let c2 = cross(m[0], m[1]);
    let determinant = dot(m[0], c0);
    let mean = (m[0].x + m[1].y + m[2].z) / 3.0;
    let is_sound = mean > 0.0 && determinant > THIN_SINGLE * mean * mean * mean;
    return transpose(mat3x3f(c0, c1, c2)) * select(0.0, 1.0 / determinant, is_sound);
}
