// When sweeps have done enough: kernels of a sweep look at `done` first, and this decides it after each one.
//
// Twin: `SoftStep::constrain` (solver/cpu/soft_step.rs)      Test: tests/gpu/reduce.rs

struct Control {
    // Whether what is asked for is done.
    done: u32,
    // Sweeps in this turn.
    sweeps: u32,
    // Largest relative error before the last sweep.
    worst: f32,
    // Error that is small enough, and the fewest sweeps.
    enough: f32,
    fewest: u32,
    // Sweeps in all.
    total: u32,
    // Whether it takes no part in this turn.
    is_off: u32,
    unused: u32,
}

// One a body.
@group(0) @binding(1) var<storage, read_write> control: array<Control>;
// The largest of all errors of the first: four candidates.
@group(0) @binding(2) var<storage, read> largest: array<vec4f>;

@compute @workgroup_size(WORKGROUP)
fn begin(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let body = item(id);
    control[body].done = control[body].is_off;
    control[body].sweeps = 0u;
    control[body].worst = 0.0;
}

@compute @workgroup_size(WORKGROUP)
fn take_largest(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    if (control[0].done != 0u) { return; }
    let most = largest[0];
    control[0].worst = max(max(most.x, most.y), max(most.z, most.w));
}

@compute @workgroup_size(WORKGROUP)
fn judge(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    let body = item(id);
    if (control[body].done != 0u) { return; }
    control[body].sweeps += 1u;
    control[body].total += 1u;
    let worst = control[body].worst;
    let is_broken = !is_finite(worst) || worst >= BROKEN;
    let is_enough = worst <= control[body].enough && control[body].sweeps >= control[body].fewest;
    if (is_broken || is_enough) { control[body].done = 1u; }
}
