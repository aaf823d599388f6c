// The viewer: what it holds, how it starts, how it follows a bake that is running. Its other methods stand in player.js (which
// frame, and when), picture.js (what is drawn), controls.js (what can be clicked) and panels.js (what is said in words).

const POLL_MILLISECONDS = 1000;

class Viewer {
  constructor() {
    this.errors = [];
    this.troubles = new Map();
    this.ready = new Promise((resolve, reject) => { this.resolveReady = resolve; this.rejectReady = reject; });
    this.ready.catch(() => {}); // shown in the page; nobody has to wait for it
    this.bakes = [];
    this.numbers = []; // frame numbers of all bakes
    this.places = []; // of each bake and each of `numbers` the index of its frame
    this.index = 0; // what is wanted
    this.shown = -1; // what is in the picture
    this.waiters = [];
    this.colouring = "object";
    this.compare = "single";
    this.wire = "off";
    this.smooth = true;
    this.loop = true;
    this.speed = 1;
    this.playing = false;
    this.hidden = new Set();
    this.samples = [];
    this.camera = new Camera();
    this.flight = null;
    this.touched = false;
    this.drawn = 0;
    this.firstPicture = null; // seconds after the page was asked for
    this.told = null;
    this.scene = { ground: [0, 0, 0], radius: 1, extent: 10, shadowReach: 2, cell: 0.1 };
    this.dirty = true;
    this.shadowsDirty = true;
    this.scheduled = false;
  }

  async start() {
    window.addEventListener("error", (event) => this.fault(event.error ?? new Error(event.message)));
    window.addEventListener("unhandledrejection", (event) => this.fault(event.reason));
    const embedded = $("kiln-scene") !== null;
    this.source = embedded ? new Embedded() : new Server();
    try {
      this.say("Loading", "scene");
      const scene = await this.source.scene();
      if (!scene.bakes?.length) throw new Trouble("There is no bake to show.");
      this.drawing = new Drawing($("picture"));
      this.cache = embedded ? this.source : new FrameCache(this.source, scene.bakes);
      this.cache.bakes = scene.bakes;
      this.cache.onArrival = () => this.arrived();
      this.cache.onTrouble = (error) => this.trouble("frames", error);
      this.cache.distance = (bake, first, last) => this.distance(bake, first, last);
      this.compare = scene.bakes.length > 1 ? "side" : "single";
      const meshes = await Promise.all(scene.bakes.map((about, bake) => this.source.meshes(bake, about)));
      this.bakes = scene.bakes.map((about, bake) => this.makeBake(about, bake, meshes[bake]));
      this.alignFrames();
      if (this.bakes.some((bake) => bake.about.status === "running")) this.index = Math.max(0, this.numbers.length - 1);
      this.build();
      this.samples = [0.25, 0.5, 0.75, 1].map((part) => Math.floor(part * (this.numbers.length - 1)));
      this.say(null, "scene");
      if (this.numbers.length === 0) this.showRest();
      this.plan();
      this.wake();
      this.bakes.forEach((bake, k) => this.readLog(k));
      this.poll();
    } catch (error) {
      this.say(null, "scene");
      this.fault(error, true);
    }
  }

  makeBake(about, bake, meshes) {
    about.generation = 0;
    const geometry = new Geometry(meshes, about);
    const shape = new Shape(geometry, about);
    const ranges = geometry.objects;
    const meanEdges = ranges.map((range) => {
      let sum = 0;
      let count = 0;
      for (let e = range.firstEdge; e < range.firstEdge + range.edges; e += 1) {
        if (geometry.inverseRest[e] > 0) {
          sum += 1 / geometry.inverseRest[e];
          count += 1;
        }
      }
      return count > 0 ? sum / count : 0;
    });
    const made = {
      about, geometry, shape, meanEdges, log: new Log(about), buffers: this.drawing.buffersFor(geometry),
      decoded: -1, contactOf: -2, stretchOf: -1, marked: 0, boxes: ranges.map(() => emptyBox()),
    };
    about.objects.forEach((object) => { if (object.shown === false) this.hidden.add(object.name); });
    return made;
  }

  // One time line for all bakes: where one of them has no frame, its frame before stands.
  alignFrames() {
    const all = new Set();
    for (const { about } of this.bakes) about.frames.forEach((frame) => all.add(frame));
    this.numbers = [...all].sort((a, b) => a - b);
    this.places = this.bakes.map(({ about }) => {
      let at = 0;
      return this.numbers.map((frame) => {
        while (at + 1 < about.frames.length && about.frames[at + 1] <= frame) at += 1;
        return about.frames.length > 0 ? at : -1;
      });
    });
  }

  range() {
    const planned = this.bakes.map(({ about }) => about.planned_frames).filter(Boolean);
    const firsts = planned.map((range) => range[0]).concat(this.numbers.slice(0, 1));
    const lasts = planned.map((range) => range[1]).concat(this.numbers.slice(-1));
    return firsts.length > 0 ? [Math.min(...firsts), Math.max(...lasts)] : [1, 1];
  }

  hasPicture() {
    return this.firstPicture !== null && this.firstPicture < Infinity;
  }

  fps() {
    return this.bakes[0]?.about.fps || 24;
  }

  active() {
    return this.bakes.map((_, bake) => bake);
  }

  isRunning() {
    return this.bakes.some(({ about }) => about.status === "running");
  }

  exported() {
    return this.source instanceof Embedded;
  }

  objectNames() {
    return [...new Set(this.bakes.flatMap(({ about }) => about.objects.map((object) => object.name)))];
  }

  changed() {
    this.dirty = true;
    this.wake();
  }

  setColouring(colouring) {
    this.colouring = colouring;
    this.showControls();
    this.showLegend();
    this.showObjects();
    this.showFrameFacts();
    this.plan();
    this.changed();
  }

  setCompare(compare) {
    if (this.bakes.length < 2) return;
    this.compare = compare;
    this.showControls();
    this.showStates();
    this.shadowsDirty = true;
    // A picture of another width shows as much as before.
    if (!this.touched) this.frameAll(true, true);
    this.changed();
  }

  toggle(name, alone) {
    const names = this.objectNames();
    if (alone) {
      const already = names.every((other) => this.hidden.has(other) !== (other === name));
      names.forEach((other) => { if (already || other === name) this.hidden.delete(other); else this.hidden.add(other); });
    } else if (!this.hidden.delete(name)) {
      this.hidden.add(name);
    }
    this.bakes.forEach((made) => this.markVertices(made));
    this.measure();
    this.showObjects();
    this.changed();
  }

  async readLog(bake) {
    const made = this.bakes[bake];
    try {
      made.log.read(await this.source.log(bake, made.about));
      this.trouble("log", null);
    } catch (error) {
      this.trouble("log", error);
      return;
    }
    this.showTimeline();
    this.markVertices(made);
    this.showObjects();
    this.showFrameFacts();
    this.showLegend();
    this.dirty = true;
    this.wake();
  }

  poll() {
    if (this.exported() || !this.isRunning()) return;
    setTimeout(async () => {
      const before = this.numbers.length;
      const atEnd = this.index >= before - 1;
      let changed = false;
      for (const [bake, made] of this.bakes.entries()) {
        const { about } = made;
        if (about.status !== "running") continue;
        try {
          const now = await this.source.status(bake);
          this.trouble("state", null);
          const grown = now.frames.length !== about.frames.length;
          const same = about.frames.every((frame, k) => frame === now.frames[k]);
          if (!same) {
            // The bake was started again.
            about.generation += 1;
            this.cache.forget?.(bake);
            made.decoded = -1;
          }
          const ended = now.status !== about.status;
          Object.assign(about, { status: now.status, message: now.message, frames: now.frames });
          if (grown || !same || ended) {
            changed = true;
            await this.readLog(bake);
          }
        } catch (error) {
          this.trouble("state", error);
        }
      }
      if (changed) {
        const frame = this.numbers[this.index];
        this.alignFrames();
        if (before === 0 && this.numbers.length > 0) {
          this.restShown = false;
          this.bakes.forEach((made) => { made.boxes = made.boxes.map(() => emptyBox()); });
          this.samples = [];
        }
        this.showTimeline();
        if (atEnd) this.go(this.numbers.length - 1);
        else this.goTo(frame);
      }
      this.showStates();
      this.poll();
    }, POLL_MILLISECONDS);
  }
}
