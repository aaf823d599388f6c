// Where a particle would be if the regions around it had kept their shapes.
//
// Twin: matching.rs, and `spring`, `lead_back`, `flow` of solver/cpu/shape_filling.rs      Test: tests/gpu/shapes.rs

@group(0) @binding(12) var<storage, read> regions: array<Region>;
@group(0) @binding(13) var<storage, read_write> turns: array<Turn>;
// What has stayed of earlier deformations: three rows of a matrix for each region.
@group(0) @binding(14) var<storage, read_write> flowed: array<vec4f>;
// Inverse spreads, row by row.
@group(0) @binding(15) var<storage, read> spreads: array<vec4f>;

// A frame begins with regions that are turned as the whole is.
@compute @workgroup_size(WORKGROUP)
fn begin_turns(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let turn = bodies[particles[i].body].turn;
    let normal = regions[i].normal;
    let size = length(normal);
    turns[i].quaternion = turn;
    turns[i].direction = vec4f(matrix_of(turn) * (normal / select(1.0, size, size > 0.0)), 0.0);
}

// Look at all of the body: normals, and sums for the volume, the middle and the motion of the whole.
@compute @workgroup_size(WORKGROUP)
fn look(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let about = bodies[p.body].about_next;
        let ahead = (x[i].xyz - about) + d[i].xyz;
        let start = (x[i].xyz - about) + low[i].xyz;
        let normal = area_normal(i, p);
        surface[i].normal = normal;
        surface[i].arm = start;
        surface[i].mass = p.mass;
        let weighted = ahead * p.mass;
        let arm = start * p.mass;
        rows[0] = vec4f(weighted, dot(ahead, normal));
        rows[1] = vec4f(arm, dot(normal, normal));
        rows[2] = vec4f(arm * start, arm.x * start.y);
        rows[3] = vec4f(arm.x * start.z, arm.y * start.z, 0.0, 0.0);
        rows[4] = vec4f(weighted.x * p.rest, 0.0);
        rows[5] = vec4f(weighted.y * p.rest, 0.0);
        rows[6] = vec4f(weighted.z * p.rest, 0.0);
        rows[MOST] = vec4f(select(0.0, at_most(length(ahead)), p.mass > 0.0), 0.0, 0.0, 0.0);
    }
    leave(id, local, 7u);
}

// What is so of the body as a whole.
@compute @workgroup_size(WORKGROUP)
fn judge_whole(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 7u);
    if (local != 0u) { return; }
    let settings = bodies[b].settings;
    let about = bodies[b].about_next;
    let middle = all_of(0u).xyz / settings.mass;
    bodies[b].about = about;
    bodies[b].about_next = about + middle;
    bodies[b].middle = middle;
    let reach = power_above(max(all_of(MOST).x, 1e-6 * settings.extent));
    bodies[b].reach = reach;
    bodies[b].shift_unit = power_above(settings.most_count * (reach + 2.5 * settings.extent));
    let ratio = all_of(0u).w * settings.area / (9.0 * settings.volume);
    bodies[b].off = ratio - 1.0;
    let is_lost = settings.keeps_volume != 0u && !finds_back(ratio);
    bodies[b].is_lost = u32(is_lost);
    bodies[b].least_normal = SMALL_NORMAL * all_of(1u).w / settings.mass;
    let centre = keep_about(b, all_of(1u).xyz, all_of(2u), all_of(3u).xy);
    bodies[b].centre = centre;
    if (is_lost) {
        // No middle has to be taken away: that of the rest places is zero.
        let m = transpose(mat3x3f(all_of(4u).xyz, all_of(5u).xyz, all_of(6u).xyz));
        let upright = vec4f(1.0, 0.0, 0.0, 0.0);
        let size = length(vec3f(length(m[0]), length(m[1]), length(m[2])));
        let is_spread = size > IN_A_POINT_SINGLE * settings.mass * settings.extent;
        var turn = upright;
        if (is_spread) { turn = rotation(m, upright); }
        bodies[b].turn = turn;
    }
}

// Below this part of its extent at rest a body is in one point, as far as single numbers tell.
const IN_A_POINT_SINGLE: f32 = 1e-7;

fn finds_back(ratio: f32) -> bool {
    return is_finite(ratio) && ratio >= FINDS_BACK_FROM && ratio < FINDS_BACK_TO;
}

// The centre of places, and the inverse inertia about it, from sums over masses.
fn keep_about(b: u32, places: vec3f, squares: vec4f, products: vec2f) -> vec3f {
    let mass = bodies[b].settings.mass;
    let c = places / mass;
    bodies[b].inverse_inertia = inverse(inertia(
        squares.xyz - places * c, squares.w - places.x * c.y, products.x - places.x * c.z, products.y - places.y * c.z));
    return c;
}

// Momentum that ways would give: what they are less, so that they give none.
fn keep_momentum(b: u32, moved: vec3f, turned: vec3f) {
    bodies[b].shift = vec3f(0.0);
    bodies[b].spin = vec3f(0.0);
    if (bodies[b].settings.is_free == 0u) { return; }
    bodies[b].shift = moved / bodies[b].settings.mass;
    let turn = bodies[b].inverse_inertia * turned;
    // What is in one point or on one line can be turned by anything.
    if (length(turn) < LARGEST_TURN) { bodies[b].spin = turn; }
}

// Running sums of places, and unit normals; what has no normal keeps its last one.
@compute @workgroup_size(WORKGROUP)
fn sum_moments(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    var own = nothing();
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let about = bodies[p.body].about;
        let normal = surface[i].normal;
        let square = dot(normal, normal);
        if (square > bodies[p.body].least_normal && bodies[p.body].is_lost == 0u) {
            turns[i].direction = vec4f(normal * inverseSqrt(square), 0.0);
        }
        let ahead = ((x[i].xyz - about) + d[i].xyz) * (p.part / bodies[p.body].reach);
        own.a = fixed(vec4f(ahead, ahead.x * p.rest.x));
        own.b = fixed(vec4f(ahead.yz * p.rest.x, ahead.xy * p.rest.y));
        own.c = fixed(vec4f(ahead.z * p.rest.y, ahead * p.rest.z));
    }
    scan(id, local, 3u, own);
}

struct Fit {
    // Centre on the reach.
    centre: vec3f,
    // The matrix `A`, on the largest mass of a region, the reach and the extent.
    matrix: mat3x3f,
}

// `Σ m x (x⁰ - t⁰)ᵀ`
fn fit_of(i: u32, sums: Row, b: u32) -> Fit {
    let region = regions[i];
    let coarse = round(region.centre * PARTS);
    let fine = region.centre - coarse / PARTS;
    let parts = vec3i(coarse);
    let places = vec3f(sums.a.xyz) / FIXED;
    let c0 = vec3i(sums.a.w, sums.b.xy) - part_of(sums.a.xyz, parts.xxx);
    let c1 = vec3i(sums.b.zw, sums.c.x) - part_of(sums.a.xyz, parts.yyy);
    let c2 = sums.c.yzw - part_of(sums.a.xyz, parts.zzz);
    // The point along the normal.
    let normal = turns[i].direction.xyz / bodies[b].reach;
    return Fit(places * region.inverse_mass, mat3x3f(
        vec3f(c0) / FIXED - places * fine.x + normal * region.normal.x,
        vec3f(c1) / FIXED - places * fine.y + normal * region.normal.y,
        vec3f(c2) / FIXED - places * fine.z + normal * region.normal.z));
}

fn flowed_of(i: u32) -> mat3x3f {
    return transpose(mat3x3f(flowed[3u * i].xyz, flowed[3u * i + 1u].xyz, flowed[3u * i + 2u].xyz));
}

// What each region does to rest places, summed up.
@compute @workgroup_size(WORKGROUP)
fn fit(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    var own = nothing();
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        if (bodies[p.body].is_lost == 0u) {
            let fitted = fit_of(i, sum_over(p.stretches, 3u), p.body);
            var matrix = fitted.matrix;
            let is_plastic = bodies[p.body].settings.is_plastic != 0u;
            if (is_plastic) { matrix = matrix * transpose(flowed_of(i)); }
            let quaternion = rotation(matrix, turns[i].quaternion);
            turns[i].quaternion = quaternion;
            var turn = matrix_of(quaternion);
            if (is_plastic) { turn = turn * flowed_of(i); }
            let shift = fitted.centre * bodies[p.body].reach - turn * regions[i].centre * bodies[p.body].settings.extent;
            let unit = vec4f(vec3f(1.0 / bodies[p.body].settings.turn_unit), 1.0 / bodies[p.body].shift_unit);
            own.a = fixed(vec4f(turn[0].x, turn[1].x, turn[2].x, shift.x) * unit);
            own.b = fixed(vec4f(turn[0].y, turn[1].y, turn[2].y, shift.y) * unit);
            own.c = fixed(vec4f(turn[0].z, turn[1].z, turn[2].z, shift.z) * unit);
        }
    }
    scan(id, local, 3u, own);
}

// Ways to the goals, or to the shape of the whole.
@compute @workgroup_size(WORKGROUP)
fn find_ways(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if (has_item(id)) {
        let i = item(id);
        let p = particles[i];
        let b = p.body;
        let settings = bodies[b].settings;
        let ahead = (x[i].xyz - bodies[b].about) + d[i].xyz;
        let rest = p.rest * settings.extent;
        var way = vec3f(0.0);
        if (bodies[b].is_lost != 0u) {
            way = matrix_of(bodies[b].turn) * rest + bodies[b].middle - ahead;
        } else {
            let sum = sum_over(p.stretches, 3u);
            let unit = vec4f(vec3f(settings.turn_unit), bodies[b].shift_unit) * (p.share / FIXED);
            let place = vec4f(rest, 1.0);
            let goal = vec3f(dot(vec4f(sum.a) * unit, place), dot(vec4f(sum.b) * unit, place), dot(vec4f(sum.c) * unit, place));
            way = (goal - ahead) * min(p.stiffness * settings.faster, 1.0);
        }
        if (!(x[i].w > 0.0)) { way = vec3f(0.0); }
        work[i] = vec4f(way, 0.0);
        let impulse = way * p.mass;
        rows[0] = vec4f(impulse, 0.0);
        rows[1] = vec4f(cross(surface[i].arm - bodies[b].centre, impulse), 0.0);
        rows[MOST] = vec4f(at_most(length(way)), 0.0, 0.0, 0.0);
    }
    leave(id, local, 2u);
}

@compute @workgroup_size(WORKGROUP)
fn judge_ways(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    let b = group.x;
    collect(local, b, 2u);
    if (local != 0u) { return; }
    if (bodies[b].is_lost != 0u) {
        bodies[b].shift = vec3f(0.0);
        bodies[b].spin = vec3f(0.0);
        bodies[b].limit = limit_of(b, all_of(MOST).x);
        return;
    }
    bodies[b].limit = 1.0;
    keep_momentum(b, all_of(0u).xyz, all_of(1u).xyz);
}

// What shortens all ways alike, so that none is longer than a part of the body.
fn limit_of(b: u32, longest: f32) -> f32 {
    let most = bodies[b].settings.largest_way;
    return select(1.0, most / longest, longest > most);
}

@compute @workgroup_size(WORKGROUP)
fn go(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let b = particles[i].body;
    let arm = surface[i].arm - bodies[b].centre;
    let way = work[i].xyz * bodies[b].limit - (bodies[b].shift + cross(bodies[b].spin, arm));
    surface[i].risen = select(dot(way, turns[i].direction.xyz), 0.0, bodies[b].is_lost != 0u);
    d[i] = vec4f(d[i].xyz + way, 0.0);
}

// The inverse of a matrix that is near none; what has no inverse counts as none.
fn undone(m: mat3x3f) -> mat3x3f {
    let c0 = cross(m[1], m[2]);
    let c1 = cross(m[2], m[0]);
    let c2 = cross(m[0], m[1]);
    let determinant = dot(m[0], c0);
    if (determinant == 0.0) { return mat3x3f(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0); }
    return transpose(mat3x3f(c0, c1, c2)) * (1.0 / determinant);
}

fn norm_from_none(m: mat3x3f) -> f32 {
    let a = m[0] - vec3f(1.0, 0.0, 0.0);
    let b = m[1] - vec3f(0.0, 1.0, 0.0);
    let c = m[2] - vec3f(0.0, 0.0, 1.0);
    return sqrt(dot(a, a) + dot(b, b) + dot(c, c));
}

// What stays of the deformation that was fitted in this step.
@compute @workgroup_size(WORKGROUP)
fn flow(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let i = item(id);
    let p = particles[i];
    let settings = bodies[p.body].settings;
    if (bodies[p.body].is_lost != 0u || settings.is_plastic == 0u) { return; }
    let fitted = fit_of(i, sum_over(p.stretches, 3u), p.body);
    let before = flowed_of(i);
    let spread = transpose(mat3x3f(spreads[3u * i].xyz, spreads[3u * i + 1u].xyz, spreads[3u * i + 2u].xyz));
    let turned = transpose(matrix_of(turns[i].quaternion)) * fitted.matrix * bodies[p.body].reach;
    let stretch = turned * spread * undone(before);
    let size = norm_from_none(stretch);
    if (!is_finite(size) || size <= settings.yields_at) { return; }
    let stays = settings.stays * (1.0 - settings.yields_at / size);
    let none = mat3x3f(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    var next = (none + (stretch - none) * stays) * before;
    let volume = determinant(next);
    if (!(volume > 0.0) || !is_finite(volume)) { return; }
    // Powers are not exact everywhere.
    var root = pow(volume, 1.0 / 3.0);
    root -= (root * root * root - volume) / (3.0 * root * root);
    next *= 1.0 / root;
    if (!(norm_from_none(next) <= MOST_FLOWED)) { return; }
    flowed[3u * i] = vec4f(next[0].x, next[1].x, next[2].x, 0.0);
    flowed[3u * i + 1u] = vec4f(next[0].y, next[1].y, next[2].y, 0.0);
    flowed[3u * i + 2u] = vec4f(next[0].z, next[1].z, next[2].z, 0.0);
}
