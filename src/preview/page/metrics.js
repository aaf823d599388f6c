// What the log of a bake says: figures of every frame, which frames are worst, which broke a promise.

const percent = (value) => `${(100 * value).toFixed(Math.abs(value) < 0.00995 ? 3 : Math.abs(value) < 0.0995 ? 2 : 1)} %`;
const millimetres = (value) => `${(1000 * value).toFixed(value < 0.01 ? 3 : 1)} mm`;
const whole = (value) => String(Math.round(value));
const seconds = (value) => (value < 0.1 ? `${(1000 * value).toFixed(1)} ms` : `${value.toFixed(value < 10 ? 2 : 1)} s`);

// The lanes under the time line. `of` gives what an object's record says, undefined where it says nothing; the stretch of soft
// bodies is no fault, so it does not count among the worst of all objects.
const METRICS = [
  {
    id: "stretch", name: "Stretch", show: percent, least: 1e-6, gate: "max_stretch", objectLimit: true,
    of: (object, alone) => (alone || object.max_volume_error === undefined ? object.max_stretch : undefined),
  },
  {
    id: "volume", name: "Volume error", show: percent, least: 1e-9, gate: "max_volume_error",
    of: (object) => object.max_volume_error ?? (object.volume_error === undefined ? undefined : Math.abs(object.volume_error)),
  },
  { id: "contacts", name: "Contacts", show: whole, least: 0.5, total: true, of: (object) => object.contacts },
  { id: "crossings", name: "Crossings", show: whole, least: 0.5, total: true, gate: "max_crossings", of: (object) => object.crossings },
  { id: "penetration", name: "Penetration", show: millimetres, least: 1e-7, gate: "max_penetration", of: (object) => object.max_penetration },
  { id: "seconds", name: "Seconds a frame", show: seconds, least: 0, wholeFrame: true, of: () => undefined },
];

// The weightiest first, as in the bake.
const PROMISES = ["crossing", "stretch", "volume", "thickness", "friction"];

class Log {
  constructor(about) {
    this.about = about;
    this.records = new Map(); // by frame number
    this.names = [];
  }

  // A last line that is still being written is left out, one that is no JSON elsewhere too: the picture needs neither.
  read(text) {
    this.records.clear();
    const names = new Set();
    for (const line of text.split("\n")) {
      if (line === "") continue;
      let record;
      try {
        record = JSON.parse(line);
      } catch {
        continue;
      }
      this.records.set(record.frame, record);
      for (const object of record.objects ?? []) names.add(object.name);
    }
    this.names = [...names];
  }

  object(frame, name) {
    return this.records.get(frame)?.objects?.find((object) => object.name === name) ?? null;
  }

  // A figure of a frame: of one object, or (null) the worst or the sum of all.
  value(metric, frame, name) {
    const record = this.records.get(frame);
    if (!record) return undefined;
    if (metric.wholeFrame) return record.seconds;
    let result;
    for (const object of record.objects ?? []) {
      if (name !== null && object.name !== name) continue;
      const value = metric.of(object, name !== null);
      if (value === undefined || value === null) continue;
      result = result === undefined ? value : metric.total ? result + value : Math.max(result, value);
    }
    return result;
  }

  // What the figure may be: the gate of the bake, which knows of pins that pull; without one the object's own limit.
  limit(metric, name) {
    const { gates, objects } = this.about;
    const gate = gates?.[metric.gate] ?? null;
    if (gate !== null) return gate;
    if (metric.objectLimit) {
      const limits = objects
        .filter((object) => object.stretch && (object.limit ?? null) !== null && (name === null || object.name === name) && object.kind !== "soft_body")
        .map((object) => object.limit);
      if (name !== null && limits.length > 0) return limits[0];
      // Of several objects with different limits there is no one line.
      if (name === null && limits.length > 0 && limits.every((limit) => limit === limits[0])) return limits[0];
    }
    return null;
  }

  // Broken promises of a frame: [object, degraded].
  degraded(frame) {
    const list = [];
    for (const object of this.records.get(frame)?.objects ?? []) {
      for (const degraded of object.degraded ?? []) list.push([object.name, degraded]);
    }
    return list;
  }

  describe([name, degraded]) {
    const other = degraded.with && degraded.with !== name ? ` with ${degraded.with}` : "";
    return `${name} broke its promise of ${degraded.promise}${other} (${degraded.count} ${degraded.count === 1 ? "vertex" : "vertices"})`;
  }

  // The frame with the largest value of a metric, if it says anything.
  worstOf(metric, frames, name) {
    let worst = null;
    for (const frame of frames) {
      const value = this.value(metric, frame, name);
      if (value !== undefined && value >= metric.least && (worst === null || value > worst.value)) worst = { frame, value };
    }
    return worst;
  }

  // The one frame to look at: where the weightiest promise was broken at most vertices, else where a limit was missed by most,
  // else where the stretch was largest, else where the most volume was lost.
  worst(frames) {
    let best = null;
    const offer = (rank, size, frame, why) => {
      if (best === null || rank < best.rank || (rank === best.rank && size > best.size)) best = { rank, size, frame, why };
    };
    for (const frame of frames) {
      for (const degraded of this.degraded(frame)) {
        const promise = PROMISES.indexOf(degraded[1].promise);
        offer(promise < 0 ? PROMISES.length : promise, degraded[1].count, frame, this.describe(degraded));
      }
    }
    if (best) return best;
    for (const metric of METRICS) {
      const limit = this.limit(metric, null);
      const worst = this.worstOf(metric, frames, null);
      if (!worst || metric.wholeFrame || metric.id === "contacts") continue;
      const why = `${metric.name.toLowerCase()} ${metric.show(worst.value)}`;
      if (limit !== null && worst.value > limit) offer(10, limit > 0 ? worst.value / limit : Infinity, worst.frame, `${why}, limit ${metric.show(limit)}`);
      else offer(20 + METRICS.indexOf(metric), 0, worst.frame, `largest ${why}`);
    }
    return best;
  }
}
