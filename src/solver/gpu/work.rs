//! Work for a device: typed buffers, kernels, and dispatches that are made once and run in every step.
//!
//! What is run is written into one list of commands, which goes to the device when something is written to it or read from it, or when the
//! list has grown long. The device does everything in this order, so that no kernel sees what a later one writes.
//!
//! Everything is counted: dispatches, passes, submits, and bytes that kernels and transfers move. Bytes of kernels are those that their
//! makers say an item reads and writes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytemuck::{Pod, Zeroable};

use super::profile::Profile;
use crate::solver::device::{Counts, KernelTime};

/// Invocations of a workgroup, in all kernels.
pub const WORKGROUP: u32 = 64;
/// Dispatches after which commands are submitted: a driver gives up on what takes seconds, and memory for commands is not endless.
const MOST_PENDING: u32 = 2048;

/// A WGSL file: kernels that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its file stem.
    pub name: &'static str,
    /// Its text; `common.wgsl` stands before it.
    pub text: &'static str,
    /// Constants that it shares with Rust, written before it: the one definition is in Rust.
    pub constants: &'static [(&'static str, f64)],
}

impl Source {
    /// All of what is compiled.
    pub fn full_text(&self) -> String {
        let constants = self.constants.iter().map(|(name, value)| format!("const {name}: f32 = {value:?};\n"));
        let shared = format!("const WORKGROUP: u32 = {WORKGROUP}u;\n");
        shared + &constants.collect::<String>() + include_str!("common.wgsl") + self.text
    }
}

/// An array on the device.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    buffer: wgpu::Buffer,
    len: usize,
    item: PhantomData<T>,
}

impl<T: Pod> Slab<T> {
    /// How many items it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Its first items as plain numbers.
    pub fn numbers_of(&self, items: usize) -> Slab<f32> {
        let len = items.min(self.len) * (size_of::<T>() / size_of::<f32>());
        Slab { buffer: self.buffer.clone(), len, item: PhantomData }
    }

    /// Whether it has none (it still has room for one, so that it can be bound).
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What can be bound to a kernel.
pub trait Binding {
    /// The buffer.
    fn buffer(&self) -> &wgpu::Buffer;
}

impl<T: Pod> Binding for Slab<T> {
    fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

/// An array that only the processor writes, and only when it has changed.
#[derive(Clone, Debug)]
pub struct Told<T> {
    slab: Slab<T>,
    known: Vec<T>,
}

impl<T: Pod + PartialEq> Told<T> {
    /// With so many items, zeros at first.
    pub fn new(gpu: &Gpu, name: &'static str, len: usize) -> Self {
        Told { slab: gpu.zeros(name, len), known: Vec::new() }
    }

    /// All its items from now on.
    pub fn tell(&mut self, gpu: &Gpu, items: impl Iterator<Item = T>) {
        let items: Vec<T> = items.collect();
        if items != self.known {
            gpu.write(&self.slab, 0, &items);
            self.known = items;
        }
    }
}

impl<T: Pod> Binding for Told<T> {
    fn buffer(&self) -> &wgpu::Buffer {
        &self.slab.buffer
    }
}

/// Which items a dispatch is about: `common.wgsl` has the twin.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Span {
    start: u32,
    count: u32,
    /// Invocations in a row of workgroups.
    row: u32,
    /// Of the body, for kernels that ask for it.
    number: u32,
}

/// A kernel with everything that is bound to it.
#[derive(Clone, Debug)]
pub struct Dispatch {
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    span: wgpu::Buffer,
    items: u32,
    groups: [u32; 2],
    bytes_per_item: u64,
    number: u32,
}

/// Limits that work is cut to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Workgroups along one dimension of a dispatch.
    pub groups: u32,
    /// Bytes of one binding.
    pub binding: u64,
}

/// An opened device.
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// How it calls itself.
    pub name: String,
    limits: Limits,
    modules: RefCell<BTreeMap<&'static str, wgpu::ShaderModule>>,
    pipelines: RefCell<BTreeMap<(&'static str, &'static str), wgpu::ComputePipeline>>,
    pending: RefCell<Option<wgpu::CommandEncoder>>,
    pending_dispatches: Cell<u32>,
    /// The first thing that went wrong with the device; nothing that it says afterwards counts.
    trouble: Arc<Mutex<Option<String>>>,
    counts: Cell<Counts>,
    allocated: Cell<u64>,
    /// Bytes that may be allocated.
    memory: u64,
    profile: RefCell<Option<Profile>>,
}

impl Drop for Gpu {
    /// Drivers do not like to be closed while they work.
    fn drop(&mut self) {
        self.finish();
    }
}

impl Gpu {
    /// Over a device that was just opened.
    pub fn new(device: wgpu::Device, queue: wgpu::Queue, name: String, limits: Limits, profiles: bool) -> Self {
        let trouble: Arc<Mutex<Option<String>>> = Arc::default();
        let note = {
            let trouble = Arc::clone(&trouble);
            move |text: String| {
                if let Ok(mut trouble) = trouble.lock() {
                    trouble.get_or_insert(text);
                }
            }
        };
        let note_lost = note.clone();
        device.set_device_lost_callback(move |_, message| note_lost(format!("the device was lost: {message}")));
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(error.to_string())));
        let profile = profiles.then(|| Profile::new(&device, &queue)).flatten();
        Gpu {
            device,
            queue,
            name,
            limits,
            modules: RefCell::default(),
            pipelines: RefCell::default(),
            pending: RefCell::default(),
            pending_dispatches: Cell::new(0),
            trouble,
            counts: Cell::default(),
            allocated: Cell::new(0),
            memory: u64::MAX,
            profile: RefCell::new(profile),
        }
    }

    /// The same with an upper limit for the bytes of all arrays.
    #[must_use]
    pub fn with_memory(mut self, memory: Option<u64>) -> Self {
        self.memory = memory.unwrap_or(u64::MAX);
        self
    }

    /// The same, never closed: it is there until the process ends. Mesa's software driver was seen to crash when a bake closed it.
    #[must_use]
    pub fn kept_open(self) -> Self {
        std::mem::forget((self.device.clone(), self.queue.clone()));
        self
    }

    /// Whether more was asked for than it may have or a binding can hold, in words.
    pub fn overflow(&self) -> Option<String> {
        let (allocated, memory) = (self.allocated.get(), self.memory);
        if allocated > memory {
            let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
            return Some(format!("the scene needs {} MB, {} MB are allowed", megabytes(allocated), megabytes(memory)));
        }
        self.trouble()
    }

    /// What went wrong, if anything did.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().map_or_else(|_| Some("the device's thread failed".to_owned()), |trouble| trouble.clone())
    }

    /// Lose the device, as a driver may do at any time.
    pub fn lose(&self) {
        self.device.destroy();
        self.wait();
        self.note("the device was lost: it was destroyed".to_owned());
    }

    fn note(&self, text: String) {
        if let Ok(mut trouble) = self.trouble.lock() {
            trouble.get_or_insert(text);
        }
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    fn count(&self, more: Counts) {
        let mut counts = self.counts.get();
        counts += more;
        self.counts.set(counts);
    }

    /// Bytes of all arrays that were made.
    pub fn allocated(&self) -> u64 {
        self.allocated.get()
    }

    /// Limits that work is cut to.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// An array with these items.
    pub fn slab<T: Pod>(&self, name: &'static str, items: &[T]) -> Slab<T> {
        let slab = self.make(name, items.len());
        if !items.is_empty() && self.allocated.get() <= self.memory {
            self.queue.write_buffer(&slab.buffer, 0, bytemuck::cast_slice(items));
        }
        slab
    }

    /// An array of zeros.
    pub fn zeros<T: Pod>(&self, name: &'static str, len: usize) -> Slab<T> {
        self.make(name, len)
    }

    fn make<T: Pod>(&self, name: &'static str, len: usize) -> Slab<T> {
        let size = ((len.max(1) * size_of::<T>()) as u64).next_multiple_of(16);
        if size > self.limits.binding {
            let most = self.limits.binding;
            self.note(format!("`{name}` needs {size} bytes in one binding, the device allows {most}"));
        }
        self.allocated.set(self.allocated.get() + size);
        // What is too much is counted to its end, for the message, but not asked for. What is asked for later, in the middle of a bake, ends the work
        // on the device.
        let is_too_much = self.allocated.get() > self.memory;
        if is_too_much {
            self.note(format!("`{name}` needs more memory than the {} MB that are allowed", self.memory >> 20));
        }
        let size = if is_too_much { 16 } else { size };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let usage = if size <= 4096 { usage | wgpu::BufferUsages::UNIFORM } else { usage };
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(name),
            size,
            usage,
            mapped_at_creation: false,
        });
        Slab { buffer, len, item: PhantomData }
    }

    /// Write items from a place on.
    pub fn write<T: Pod>(&self, slab: &Slab<T>, from: usize, items: &[T]) {
        if items.is_empty() || self.trouble().is_some() {
            return;
        }
        // What was asked for before must not see this.
        self.submit();
        let bytes: &[u8] = bytemuck::cast_slice(items);
        self.queue.write_buffer(&slab.buffer, (from * size_of::<T>()) as u64, bytes);
        self.count(Counts { uploads: 1, uploaded_bytes: bytes.len() as u64, ..Counts::default() });
    }

    /// Copy all of one array into another of the same length.
    pub fn copy<T: Pod>(&self, from: &Slab<T>, to: &Slab<T>) {
        self.copy_part((from, 0), (to, 0), from.len.min(to.len));
    }

    /// Copy so many items from a place in one array to a place in another one.
    pub fn copy_part<T: Pod>(&self, (from, first): (&Slab<T>, usize), (to, place): (&Slab<T>, usize), count: usize) {
        let bytes = |items: usize| (items * size_of::<T>()) as u64;
        if count == 0 || self.trouble().is_some() {
            return;
        }
        self.with_encoder(|encoder| {
            encoder.copy_buffer_to_buffer(&from.buffer, bytes(first), &to.buffer, bytes(place), bytes(count));
        });
        self.count(Counts { kernel_bytes: 2 * bytes(count), ..Counts::default() });
    }

    /// Wait for the device and read an array. If it is in trouble the items stay as they are.
    pub fn read<T: Pod>(&self, slab: &Slab<T>, items: &mut Vec<T>) {
        self.read_all([(slab, items)]);
    }

    /// The same for several arrays, waiting once.
    pub fn read_all<T: Pod, const N: usize>(&self, parts: [(&Slab<T>, &mut Vec<T>); N]) {
        let bytes = |slab: &Slab<T>| (slab.len * size_of::<T>()) as u64;
        let size: u64 = parts.iter().map(|(slab, _)| bytes(slab).next_multiple_of(4)).sum();
        if size == 0 || self.trouble().is_some() {
            return;
        }
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.with_encoder(|encoder| {
            let mut at = 0;
            for (slab, _) in parts.iter().filter(|(slab, _)| !slab.is_empty()) {
                encoder.copy_buffer_to_buffer(&slab.buffer, 0, &staging, at, bytes(slab).next_multiple_of(4));
                at += bytes(slab).next_multiple_of(4);
            }
        });
        self.submit();
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
        self.wait();
        match receiver.try_recv().map(|result| result.map(|()| staging.get_mapped_range(..))) {
            Ok(Ok(Ok(view))) => {
                let mut at = 0;
                for (slab, items) in parts {
                    items.resize(slab.len, T::zeroed());
                    let bytes = bytes(slab) as usize;
                    let into: &mut [u8] = bytemuck::cast_slice_mut(items.as_mut_slice());
                    into.copy_from_slice(&view[at..at + bytes]);
                    at += bytes.next_multiple_of(4);
                }
            }
            _ => self.note("the device does not give back what it was asked for".to_owned()),
        }
        self.count(Counts { read_backs: 1, read_bytes: size, ..Counts::default() });
    }

    fn wait(&self) {
        if let Err(error) = self.device.poll(wgpu::PollType::wait_indefinitely()) {
            self.note(format!("the device does not answer: {error}"));
        }
    }

    /// A kernel for some items (its bindings from 1 on as its text numbers them; 0 says which items). An item reads and writes so many bytes.
    pub fn dispatch(
        &self,
        source: &Source,
        kernel: &'static str,
        items: Range<usize>,
        bytes_per_item: usize,
        bindings: &[(u32, &dyn Binding)],
    ) -> Dispatch {
        let pipeline = self.pipeline(source, kernel);
        let span = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(kernel),
            size: size_of::<Span>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let resources = bindings.iter().map(|(number, binding)| (*number, binding.buffer()));
        let entries: Vec<wgpu::BindGroupEntry> = std::iter::once((0, &span))
            .chain(resources)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(kernel),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let bytes_per_item = bytes_per_item as u64;
        let mut dispatch =
            Dispatch { name: kernel, pipeline, bindings, span, items: 0, groups: [0; 2], bytes_per_item, number: 0 };
        self.aim(&mut dispatch, items);
        dispatch
    }

    /// A kernel whose workgroups share their work: `values` is what it gets to know as its number of values, `invocations` are a multiple of the
    /// workgroup's. An invocation reads and writes so many bytes.
    pub fn dispatch_blocks(
        &self,
        source: &Source,
        kernel: &'static str,
        values: usize,
        invocations: usize,
        bytes_per_invocation: usize,
        bindings: &[(u32, &dyn Binding)],
    ) -> Dispatch {
        self.dispatch(source, kernel, values..values + invocations, bytes_per_invocation, bindings)
    }

    /// The same kernel for these items of a body of this number from now on.
    pub fn aim_at_body(&self, dispatch: &mut Dispatch, number: u32, items: Range<usize>) {
        dispatch.number = number;
        self.aim(dispatch, items);
    }

    /// The same kernel for other items from now on.
    pub fn aim(&self, dispatch: &mut Dispatch, items: Range<usize>) {
        let count = items.len() as u32;
        let groups = count.div_ceil(WORKGROUP);
        // More than fits into a row of workgroups goes into several rows.
        let across = groups.min(self.limits.groups).max(1);
        dispatch.items = count;
        dispatch.groups = [across, groups.div_ceil(across)];
        if dispatch.groups[1] > self.limits.groups {
            self.note(format!("{count} items are more than the device can be asked for at once"));
        }
        let span = Span { start: items.start as u32, count, row: across * WORKGROUP, number: dispatch.number };
        self.submit();
        self.queue.write_buffer(&dispatch.span, 0, bytemuck::bytes_of(&span));
    }

    /// Run some dispatches, one after the other.
    pub fn run<'a>(&self, dispatches: impl IntoIterator<Item = &'a Dispatch>) {
        if self.trouble().is_some() {
            return;
        }
        let mut counts = Counts::default();
        self.with_encoder(|encoder| {
            let mut profile = self.profile.borrow_mut();
            let mut pass = None;
            for dispatch in dispatches.into_iter().filter(|dispatch| dispatch.items > 0) {
                // With time stamps each dispatch has a pass of its own: that is where they can be taken everywhere.
                if pass.is_none() || profile.is_some() {
                    drop(pass.take());
                    let timestamp_writes = profile.as_mut().and_then(|profile| profile.begin(dispatch.name));
                    let descriptor = wgpu::ComputePassDescriptor { label: Some(dispatch.name), timestamp_writes };
                    pass = Some(encoder.begin_compute_pass(&descriptor).forget_lifetime());
                    counts.passes += 1;
                }
                if let Some(pass) = &mut pass {
                    pass.set_pipeline(&dispatch.pipeline);
                    pass.set_bind_group(0, &dispatch.bindings, &[]);
                    pass.dispatch_workgroups(dispatch.groups[0], dispatch.groups[1], 1);
                }
                counts.dispatches += 1;
                counts.kernel_bytes += dispatch.bytes_per_item * u64::from(dispatch.items);
            }
        });
        self.count(counts);
        self.pending_dispatches.set(self.pending_dispatches.get() + counts.dispatches as u32);
        let is_full = self.profile.borrow().as_ref().is_some_and(Profile::is_nearly_full);
        if self.pending_dispatches.get() >= MOST_PENDING || is_full {
            self.submit();
        }
    }

    /// Send what was asked for to the device.
    pub fn submit(&self) {
        let Some(mut encoder) = self.pending.take() else { return };
        self.pending_dispatches.set(0);
        let mut profile = self.profile.borrow_mut();
        if let Some(profile) = profile.as_mut() {
            profile.resolve(&mut encoder);
        }
        self.queue.submit([encoder.finish()]);
        self.count(Counts { submits: 1, ..Counts::default() });
        if let Some(profile) = profile.as_mut() {
            self.wait();
            profile.collect(&self.device);
        }
    }

    /// Send everything, and wait until it is done.
    pub fn finish(&self) {
        self.submit();
        self.wait();
    }

    fn with_encoder(&self, f: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut pending = self.pending.borrow_mut();
        f(pending
            .get_or_insert_with(|| self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())));
    }

    fn pipeline(&self, source: &Source, kernel: &'static str) -> wgpu::ComputePipeline {
        let make = || {
            let mut modules = self.modules.borrow_mut();
            let module = modules.entry(source.name).or_insert_with(|| {
                self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(source.name),
                    source: wgpu::ShaderSource::Wgsl(source.full_text().into()),
                })
            });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel),
                layout: None,
                module,
                entry_point: Some(kernel),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        self.pipelines.borrow_mut().entry((source.name, kernel)).or_insert_with(make).clone()
    }

    /// Time spent in each kernel, if that was asked for and the device can tell; the longest first.
    pub fn profile(&self) -> Vec<KernelTime> {
        self.submit();
        self.profile.borrow().as_ref().map(Profile::table).unwrap_or_default()
    }
}
