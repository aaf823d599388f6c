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
    unused_1: u32,
    unused_2: u32,
}

@group(0) @binding(1) var<storage, read_write> control: Control;
// The largest of all errors: four candidates.
@group(0) @binding(2) var<storage, read> largest: array<vec4f>;

@compute @workgroup_size(1)
fn begin(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    control.done = 0u;
    control.sweeps = 0u;
    control.worst = 0.0;
}

@compute @workgroup_size(1)
fn take_largest(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    if (control.done != 0u) { return; }
    let most = largest[0];
    control.worst = max(max(most.x, most.y), max(most.z, most.w));
}

@compute @workgroup_size(1)
fn judge(@builtin(global_invocation_id) id: vec3u) {
    if (!has_item(id)) { return; }
    if (control.done != 0u) { return; }
    control.sweeps += 1u;
    control.total += 1u;
    let is_broken = !is_finite(control.worst) || control.worst >= BROKEN;
    if (is_broken || (control.worst <= control.enough && control.sweeps >= control.fewest)) { control.done = 1u; }
}
