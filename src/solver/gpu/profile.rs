//! Time stamps around every dispatch, where the device has them.

use std::collections::BTreeMap;

use crate::solver::device::KernelTime;

/// Time stamps of one submit.
const CAPACITY: u32 = 4096;

/// Kernels and the time that they took.
pub struct Profile {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period: f64,
    /// Kernels since the last submit, in order.
    open: Vec<&'static str>,
    totals: BTreeMap<&'static str, (u64, f64)>,
}

impl Profile {
    /// For a device; none if it has no time stamps.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Option<Self> {
        if !device.features().contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let size = u64::from(CAPACITY) * 8;
        let buffer = |usage: wgpu::BufferUsages| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("time stamps"),
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        Some(Profile {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("time stamps"),
                ty: wgpu::QueryType::Timestamp,
                count: CAPACITY,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
            period: f64::from(queue.get_timestamp_period()),
            open: Vec::new(),
            totals: BTreeMap::new(),
        })
    }

    /// Stamps for the pass of one dispatch; none where there is no room for them.
    pub fn begin(&mut self, kernel: &'static str) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let first = 2 * self.open.len() as u32;
        if first + 2 > CAPACITY {
            return None;
        }
        self.open.push(kernel);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }

    /// Whether the commands should be submitted soon.
    pub fn is_nearly_full(&self) -> bool {
        2 * self.open.len() as u32 > CAPACITY / 2
    }

    /// Make the stamps of these commands readable.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let count = 2 * self.open.len() as u32;
        if count > 0 {
            encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, u64::from(count) * 8);
        }
    }

    /// Add up what was measured; the device has finished.
    pub fn collect(&mut self, device: &wgpu::Device) {
        if self.open.is_empty() {
            return;
        }
        let kernels = std::mem::take(&mut self.open);
        self.readable.map_async(wgpu::MapMode::Read, .., |_| ());
        if device.poll(wgpu::PollType::wait_indefinitely()).is_err() {
            return;
        }
        if let Ok(view) = self.readable.get_mapped_range(..) {
            let ticks: &[u64] = bytemuck::cast_slice(&view);
            for (kernel, stamps) in kernels.into_iter().zip(ticks.chunks_exact(2)) {
                let total = self.totals.entry(kernel).or_default();
                total.0 += 1;
                total.1 += stamps[1].saturating_sub(stamps[0]) as f64 * self.period * 1e-9;
            }
        }
        self.readable.unmap();
    }

    /// Each kernel, the longest first.
    pub fn table(&self) -> Vec<KernelTime> {
        let time = |(&kernel, &(dispatches, seconds)): (&&'static str, &(u64, f64))| KernelTime {
            kernel,
            dispatches,
            seconds,
        };
        let mut rows: Vec<KernelTime> = self.totals.iter().map(time).collect();
        rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        rows
    }
}
