// The play head: which frame is wanted, what is fetched for it and ahead of it, and the loop that runs while something moves and
// sleeps otherwise.

Object.assign(Viewer.prototype, {
  distance(bake, first, last) {
    const count = this.bakes[bake]?.about.frames.length ?? 0;
    const now = this.places[bake]?.[this.index] ?? 0;
    if (count === 0 || (now >= first && now <= last)) return 0;
    const ahead = (first - now + count) % count;
    const behind = (now - last + count) % count;
    return Math.min(ahead, 3 * behind);
  },

  // The frame that is to be shown, then some that were never seen, to know how far everything goes, then those that come next.
  plan() {
    if (this.bakes.length === 0) return;
    const wanted = [];
    const add = (index, ahead) => {
      for (const bake of this.active()) {
        const place = this.places[bake][index];
        if (place === undefined || place < 0) continue;
        if (!this.cache.frame(bake, "frames", place)) wanted.push([bake, "frames", place]);
        if (this.colouring === "contact" && ahead <= CONTACT_AHEAD && !this.cache.frame(bake, "contact", place)) wanted.push([bake, "contact", place]);
      }
    };
    add(this.index, 0);
    const size = this.bakes.reduce((sum, { about }) => sum + about.bytes_per_frame, 0);
    const room = Math.floor((0.6 * CACHE_BYTES) / Math.max(1, size));
    const ahead = Math.min(this.numbers.length - 1, room, this.playing ? 400 : AHEAD_WHILE_PAUSED);
    for (let k = 1; k <= Math.min(2, ahead); k += 1) add((this.index + k) % this.numbers.length, k);
    if (this.hasPicture()) this.samples.forEach((index) => add(index, CONTACT_AHEAD + 1));
    for (let k = 3; k <= ahead && wanted.length < 24; k += 1) add((this.index + k) % this.numbers.length, k);
    if (!this.playing) for (let k = 1; k <= 4 && k <= this.index; k += 1) add(this.index - k, CONTACT_AHEAD + 1);
    this.cache.want(wanted);
  },

  arrived() {
    this.plan();
    this.takeSamples();
    this.timelineDirty = true;
    this.wake();
  },

  // Frames far apart say how far everything goes before they are shown.
  takeSamples() {
    if (!this.hasPicture() || this.samples.length === 0) return;
    const left = [];
    for (const index of this.samples) {
      const frames = this.active().map((bake) => this.cache.frame(bake, "frames", this.places[bake][index]));
      if (frames.some((frame) => frame === null)) {
        left.push(index);
        continue;
      }
      this.active().forEach((bake) => {
        const { shape, boxes, about } = this.bakes[bake];
        const seen = (this.sampleShape ??= []);
        seen[bake] ??= { positions: new Float32Array(shape.positions.length), about };
        Shape.prototype.read.call(seen[bake], frames[bake]);
        boxes.forEach((box, o) => shape.widen(box, o, seen[bake].positions));
      });
    }
    this.samples = left;
    if (left.length > 0) return;
    this.sampleShape = null;
    this.measure();
    // Who has not moved the camera yet gets all of the motion into the picture.
    if (!this.touched) this.frameAll(true, true);
  },

  wake() {
    if (this.scheduled || !this.drawing) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      this.tick(now);
    });
  },

  tick(now) {
    if (this.lost) return;
    this.advance(now);
    const whole = this.take();
    this.showBusy(whole, now);
    if (this.firstPicture === null && this.shown >= 0) {
      this.measure();
      this.frameAll(false);
    }
    this.fly(now);
    if (this.dirty && (this.shown >= 0 || this.restShown)) this.draw();
    if (this.timelineDirty && now - (this.timelineDrawn ?? -1000) > 250) {
      this.timelineDirty = false;
      this.timelineDrawn = now;
      this.timeline.drawScrub();
    }
    if (this.firstPicture === null && this.shown >= 0) {
      this.firstPicture = Infinity; // handed to the driver, not there yet
      this.drawing.whenDone(() => {
        this.firstPicture = performance.now() / 1000;
        this.resolveReady();
        this.arrived();
      });
    }
    if (whole && this.shown === this.index && this.waiters.length > 0) {
      this.waiters.splice(0).forEach((waiter) => waiter(this.numbers[this.shown]));
    }
    if (this.playing || this.flight || this.dirty || this.timelineDirty) this.wake();
  },

  // The clock of the play head. It stands still while the next frame is not here.
  advance(now) {
    const passed = Math.min(0.25, (now - (this.lastTick ?? now)) / 1000);
    this.lastTick = now;
    if (!this.playing || this.numbers.length === 0) return;
    if (this.shown !== this.index) return;
    const last = this.numbers.length - 1;
    this.clock += passed * this.fps() * this.speed;
    const step = Math.max(1, this.index < last ? this.numbers[this.index + 1] - this.numbers[this.index] : this.timeline.step ?? 1);
    if (this.clock < step) return;
    let next = this.index;
    while (next < last && this.numbers[next + 1] - this.numbers[this.index] <= this.clock) next += 1;
    if (next > this.index) {
      this.clock -= this.numbers[next] - this.numbers[this.index];
      this.clock = Math.min(this.clock, step);
      this.go(next);
    } else if (this.isRunning()) {
      this.clock = 0; // more is to come
    } else if (this.loop && last > 0) {
      this.clock = 0;
      this.go(0);
    } else {
      this.pause();
    }
  },

  go(index) {
    this.index = Math.max(0, Math.min(this.numbers.length - 1, index));
    this.showNumber();
    this.plan();
    this.wake();
  },

  // To a frame number, or the nearest there is before it.
  goTo(frame) {
    let index = 0;
    while (index + 1 < this.numbers.length && this.numbers[index + 1] <= frame) index += 1;
    this.go(index);
  },

  play() {
    if (this.numbers.length === 0) return;
    if (this.index === this.numbers.length - 1 && !this.isRunning()) this.go(0);
    this.playing = true;
    this.clock = 0;
    this.showControls();
    this.plan();
    this.wake();
  },

  pause() {
    this.playing = false;
    this.showControls();
    this.plan();
  },

  step(count) {
    this.pause();
    this.go(this.index + count);
  },

  mark(direction) {
    const frame = this.timeline.nextMark(this.numbers[this.index] ?? 0, direction);
    if (frame === null) return;
    this.pause();
    this.goTo(frame);
    const why = this.timeline.marks.filter((mark) => mark.frame === frame);
    this.tell(frame, (why.find((mark) => mark.kind === "degraded") ?? why[0])?.why[0]);
  },

  worst() {
    const found = this.bakes.map(({ log, about }) => log.worst(about.frames)).filter(Boolean);
    if (found.length === 0) return;
    found.sort((a, b) => a.rank - b.rank || b.size - a.size);
    this.pause();
    this.goTo(found[0].frame);
    this.tell(found[0].frame, found[0].why);
  },

  // Says why the viewer went to a frame, as long as it is there.
  tell(frame, text) {
    this.told = { frame, text: text ?? "" };
    this.showFrameFacts();
  },
});
