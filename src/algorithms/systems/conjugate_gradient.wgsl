// Preconditioned conjugate gradients with a filter, three dispatches an iteration.
//
// Twin: conjugate_gradient.rs      Test: tests/gpu/linear.rs
//
// Stands behind bin_csr.wgsl. Based on: [Bender14 §5.3.1.2], algorithm 5.3, with d ← s + β d in line 20, and errors relative to the right side,
// not to the residual of a good start. Sums are found in two phases: each workgroup leaves its part behind, and every workgroup of the next
// dispatch adds up all parts in the same order. Whether there is more to do is decided here: kernels that have nothing to do return at once.
//
// The filter S is on both sides of the preconditioner, P = S D⁻¹ S, and on residuals: what it takes away would be in no direction, but rounding of
// it in every sum.

struct State {
    // r P r, and the one that is small enough.
    error: vec4f,
    enough: vec4f,
    // 1 where there is more to do.
    live: vec4f,
    iterations: vec4f,
}

// A number for each row, or planes of the upper triangles of symmetric blocks and of what may change: P.
@group(0) @binding(9) var<storage, read> inverse: array<f32>;
@group(0) @binding(10) var<storage, read_write> inverse_out: array<f32>;
// What may change. Numbers: 1 or 0. Blocks: a direction, and in w 0 if everything may, 1 all but that, 2 only that, 3 nothing.
@group(0) @binding(11) var<storage, read> freedom: array<Freedom>;
@group(0) @binding(12) var<storage, read_write> x: array<Number>;
@group(0) @binding(13) var<storage, read_write> r: array<Number>;
@group(0) @binding(14) var<storage, read_write> d: array<Number>;
// Parts of sums: of the first of two sums by workgroups, then of the second.
@group(0) @binding(15) var<storage, read_write> parts: array<Number>;
@group(0) @binding(16) var<storage, read> state: State;
@group(0) @binding(17) var<storage, read_write> state_out: State;

// Part of a starting error that numbers of this precision can get rid of, squared.
const LEAST_PART: f32 = 1e-13;

var<workgroup> shared_sums: array<Number, WORKGROUP>;

fn add_up(local: u32, value: Number) -> Number {
    workgroupBarrier();
    shared_sums[local] = value;
    workgroupBarrier();
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        if (local < width) { shared_sums[local] += shared_sums[local + width]; }
        workgroupBarrier();
    }
    return shared_sums[0];
}

// All parts from a number on.
fn sum_of_parts(local: u32, first: u32) -> Number {
    var sum = Number(0.0);
    for (var n = local; n < system.groups; n += WORKGROUP) { sum += parts[first + n]; }
    return add_up(local, sum);
}

fn truth(a: vec4f) -> Truth {
    return narrow(a) > Number(0.0);
}

fn is_idle(a: State) -> bool {
    return all(a.live == vec4f(0.0));
}

@compute @workgroup_size(WORKGROUP)
fn invert(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    for (var turn = 0u; turn < system.turns; turn++) {
        let row = row_of(group_number(group), turn, local);
        if (row < system.rows) { put_inverse(row); }
    }
}

// What the filter takes away from x: what it was given, and keeps.
@compute @workgroup_size(WORKGROUP)
fn keep(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    for (var turn = 0u; turn < system.turns; turn++) {
        let row = row_of(group_number(group), turn, local);
        if (row < system.rows) { result[row] = x[row] - filtered(freedom[row], x[row]); }
    }
}

// d = P r; the first sum is b P b, the second r P r.
@compute @workgroup_size(WORKGROUP)
fn prepare(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    let number = group_number(group);
    var of_right = Number(0.0);
    var of_start = Number(0.0);
    for (var turn = 0u; turn < system.turns; turn++) {
        let row = row_of(number, turn, local);
        if (row < system.rows) {
            let rest = filtered_row(row, r[row]);
            let s = precondition(row, rest);
            r[row] = rest;
            d[row] = s;
            of_start += product(rest, s);
            let b = filtered_row(row, right[row]);
            of_right += product(b, precondition(row, b));
        }
    }
    of_right = add_up(local, of_right);
    of_start = add_up(local, of_start);
    if (local == 0u) {
        parts[number] = of_right;
        parts[system.groups + number] = of_start;
    }
}

// One workgroup.
@compute @workgroup_size(WORKGROUP)
fn begin(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    let of_right = sum_of_parts(local, 0u);
    let error = sum_of_parts(local, system.groups);
    let is_sound = is_number(of_right) & is_number(error);
    let enough = max(min(of_right * system.relative, Number(system.absolute)), error * LEAST_PART);
    let live = is_sound & (error > enough) & (Number(f32(system.most_iterations)) > Number(0.0));
    if (local == 0u) {
        state_out.error = wide(select(Number(BROKEN), error, is_sound));
        state_out.enough = wide(select(Number(0.0), enough, is_sound));
        state_out.live = wide(select(Number(0.0), Number(1.0), live));
        state_out.iterations = vec4f(0.0);
    }
}

// Line 10: q = A d, and the parts of d q. `factor` is d, `result` is q.
@compute @workgroup_size(WORKGROUP)
fn multiply_and_dot(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group) || is_idle(state)) { return; }
    let number = group_number(group);
    var sum = Number(0.0);
    for (var turn = 0u; turn < system.turns; turn++) {
        let place = row_of(number, turn, local);
        if (place < system.rows) {
            let row = row_at(place);
            let q = row_times_factor(place, row);
            result[row] = q;
            sum += product(factor[row], q);
        }
    }
    sum = add_up(local, sum);
    if (local == 0u) { parts[number] = sum; }
}

// Lines 12 to 17: x += α d, r -= α q, and the parts of r P r. `factor` is d, `right` is q.
@compute @workgroup_size(WORKGROUP)
fn go(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group)) { return; }
    let number = group_number(group);
    if (local == 0u && number == 0u) { state_out = state; }
    if (is_idle(state)) { return; }
    let curvature = sum_of_parts(local, 0u);
    let is_sound = is_number(curvature) & (curvature > Number(0.0));
    let alpha = narrow(state.error) / select(Number(1.0), curvature, is_sound);
    let goes = truth(state.live) & is_sound & is_number(alpha);
    var sum = Number(0.0);
    for (var turn = 0u; turn < system.turns; turn++) {
        let row = row_of(number, turn, local);
        if (row < system.rows) {
            x[row] = select(x[row], x[row] + alpha * factor[row], goes);
            let rest = select(r[row], filtered_row(row, r[row] - alpha * right[row]), goes);
            r[row] = rest;
            sum += product(rest, precondition(row, rest));
        }
    }
    sum = add_up(local, sum);
    if (local == 0u) {
        // Less than nothing where it did not go on.
        parts[system.groups + number] = select(Number(-1.0), sum, goes);
    }
}

// Lines 19 to 21: d = P r + β d. `state` is what the last dispatch has left, `state_out` what the next ones see.
@compute @workgroup_size(WORKGROUP)
fn turn_way(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    if (!has_group(group) || is_idle(state)) { return; }
    let number = group_number(group);
    let error = sum_of_parts(local, system.groups);
    let before = narrow(state.error);
    let was_live = truth(state.live);
    let iterations = narrow(state.iterations) + select(Number(0.0), Number(1.0), was_live);
    let is_sound = is_number(error) & (error >= Number(0.0));
    let goes_on = was_live & is_sound & (error > narrow(state.enough))
        & (iterations < Number(f32(system.most_iterations)));
    let beta = select(Number(0.0), error / before, goes_on);
    for (var turn = 0u; turn < system.turns; turn++) {
        let row = row_of(number, turn, local);
        if (row < system.rows) {
            d[row] = select(Number(0.0), precondition(row, r[row]) + beta * d[row], goes_on);
        }
    }
    if (local == 0u && number == 0u) {
        // Where it did not go on for want of curvature the error is what it was.
        let now = select(select(Number(BROKEN), before, is_number(error)), error, is_sound);
        state_out.error = wide(select(before, now, was_live));
        state_out.enough = state.enough;
        state_out.live = wide(select(Number(0.0), Number(1.0), goes_on));
        state_out.iterations = wide(iterations);
    }
}
