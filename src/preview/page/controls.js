// Everything that can be clicked, dragged and typed.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

Object.assign(Viewer.prototype, {
  build() {
    this.timeline = new Timeline($("timeline"), (frame) => {
      this.pause();
      this.goTo(frame);
    });
    this.timeline.cached = (k) => this.bakes.every((_, bake) => this.cache.frame(bake, "frames", this.places[bake][k]) !== null);
    SPEEDS.forEach((speed) => $("speed").append(new Option(`${speed} ×`, String(speed), speed === 1, speed === 1)));
    const buttons = {
      first: () => { this.pause(); this.go(0); },
      last: () => { this.pause(); this.go(this.numbers.length - 1); },
      back: () => this.step(-1),
      forward: () => this.step(1),
      play: () => (this.playing ? this.pause() : this.play()),
      loop: () => { this.loop = !this.loop; },
      worst: () => this.worst(),
      wire: () => { this.wire = { off: "over", over: "only", only: "off" }[this.wire]; },
      smooth: () => { this.smooth = !this.smooth; },
      "frame-all": () => { this.touched = true; this.frameAll(); },
      graphs: () => document.body.classList.toggle("without-graphs"),
      "objects-toggle": () => document.body.classList.toggle("without-objects"),
      "help-toggle": () => ($("help").open ? $("help").close() : $("help").showModal()),
    };
    for (const [id, action] of Object.entries(buttons)) {
      $(id).addEventListener("click", (event) => {
        action();
        // The space bar plays; it does not press the button that was clicked last.
        event.currentTarget.blur();
        this.showControls();
        this.changed();
      });
    }
    document.querySelectorAll("[data-colouring]").forEach((button) => button.addEventListener("click", () => { this.setColouring(button.dataset.colouring); button.blur(); }));
    document.querySelectorAll("[data-compare]").forEach((button) => button.addEventListener("click", () => { this.setCompare(button.dataset.compare); button.blur(); }));
    $("speed").addEventListener("change", () => { this.speed = Number($("speed").value); $("speed").blur(); this.showControls(); });
    $("whose").addEventListener("change", () => { this.timeline.setName($("whose").value || null); $("whose").blur(); });
    $("number").addEventListener("change", () => {
      const frame = Number($("number").value);
      if (Number.isFinite(frame) && $("number").value.trim() !== "") {
        this.pause();
        this.goTo(frame);
      }
      $("number").blur();
      this.showNumber();
    });
    $("number").addEventListener("focus", () => $("number").select());
    if (innerWidth < 760) document.body.classList.add("without-objects");
    this.listenToKeys();
    this.listenToPointers();
    const canvas = this.drawing.canvas;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
      this.trouble("graphics", new Trouble("The graphics driver took the picture away."));
    });
    canvas.addEventListener("webglcontextrestored", () => this.restore());
    new ResizeObserver(() => this.changed()).observe($("stage"));
    this.showTimeline();
    this.showControls();
    this.showObjects();
    this.showStates();
    this.showNumber();
  },

  listenToKeys() {
    const act = {
      " ": () => (this.playing ? this.pause() : this.play()),
      Home: () => { this.pause(); this.go(0); },
      End: () => { this.pause(); this.go(this.numbers.length - 1); },
      "[": () => this.mark(-1),
      "]": () => this.mark(1),
      ",": () => this.changeSpeed(-1),
      ".": () => this.changeSpeed(1),
      "?": () => $("help-toggle").click(),
      x: () => this.setCompare(this.compare === "side" ? "overlay" : "side"),
      m: () => this.worst(),
      l: () => $("loop").click(),
      f: () => $("frame-all").click(),
      w: () => $("wire").click(),
      s: () => $("smooth").click(),
      g: () => $("graphs").click(),
      o: () => $("objects-toggle").click(),
    };
    ["object", "stretch", "contact", "volume"].forEach((colouring, k) => {
      act[String(k + 1)] = () => { if (!document.querySelector(`[data-colouring="${colouring}"]`).disabled) this.setColouring(colouring); };
    });
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select")) return;
      if ($("help").open && event.key !== "?") return;
      let action = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (event.key === "ArrowLeft") action = () => this.step(event.shiftKey ? -10 : -1);
      if (event.key === "ArrowRight") action = () => this.step(event.shiftKey ? 10 : 1);
      if (!action) return;
      event.preventDefault();
      action();
    });
  },

  changeSpeed(direction) {
    const at = SPEEDS.indexOf(this.speed) + direction;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    $("speed").value = String(this.speed);
    this.showControls();
  },

  listenToPointers() {
    const { canvas } = this.drawing;
    const pointers = new Map();
    let pans = false;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      pans = event.button !== 0 || event.shiftKey;
      canvas.classList.add("dragged");
      this.touched = true;
      this.flight = null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const height = canvas.clientHeight;
      const now = { x: event.clientX, y: event.clientY };
      const [dx, dy] = [now.x - before.x, now.y - before.y];
      if (pointers.size === 1) {
        if (pans) this.camera.pan(dx, dy, height);
        else this.camera.orbit(dx, dy, height);
      } else if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const apart = (a, b) => Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
        this.camera.pan(dx / 2, dy / 2, height);
        const middle = this.fromMiddle((now.x + other.x) / 2, (now.y + other.y) / 2);
        this.camera.zoom(apart(before, other) / apart(now, other), middle.x, middle.y, height);
      }
      pointers.set(event.pointerId, now);
      this.changed();
    });
    const end = (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove("dragged");
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.touched = true;
      this.flight = null;
      const lines = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
      const middle = this.fromMiddle(event.clientX, event.clientY);
      this.camera.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0016), middle.x, middle.y, canvas.clientHeight);
      this.changed();
    }, { passive: false });
    canvas.addEventListener("dblclick", (event) => {
      const target = this.pick(event.clientX, event.clientY);
      if (!target) return;
      this.flight = { from: { target: this.camera.target, distance: this.camera.distance }, goal: { target, distance: this.camera.distance }, start: performance.now() };
      this.wake();
    });
  },

  // Pixels from the middle of the picture that the pointer is in.
  fromMiddle(clientX, clientY) {
    const box = this.drawing.canvas.getBoundingClientRect();
    const width = this.compare === "side" ? box.width / 2 : box.width;
    const x = clientX - box.left;
    return { x: (x % width) - width / 2, y: clientY - box.top - box.height / 2, which: this.compare === "side" && x >= width ? 1 : 0 };
  },

  // The place of the vertex under the pointer, the nearest one of those in a small circle.
  pick(clientX, clientY) {
    const { x, y, which } = this.fromMiddle(clientX, clientY);
    const { right, up, forward } = this.camera.axes();
    const eye = this.camera.eye();
    const scale = this.drawing.canvas.clientHeight / (2 * Math.tan(FIELD_OF_VIEW / 2));
    let best = null;
    let nearest = Infinity;
    const { shape, geometry, about, floors } = this.bakes[which];
    about.objects.forEach((object, o) => {
      if (this.hidden.has(object.name) || floors?.[o]) return;
      const range = geometry.objects[o];
      for (let k = 3 * range.firstVertex; k < 3 * (range.firstVertex + range.vertices); k += 3) {
        const [px, py, pz] = [shape.positions[k] - eye[0], shape.positions[k + 1] - eye[1], shape.positions[k + 2] - eye[2]];
        const depth = px * forward[0] + py * forward[1] + pz * forward[2];
        if (depth <= 0 || depth >= nearest) continue;
        const across = ((px * right[0] + py * right[1] + pz * right[2]) / depth) * scale - x;
        const above = (-(px * up[0] + py * up[1] + pz * up[2]) / depth) * scale - y;
        if (across * across + above * above > 225) continue;
        nearest = depth;
        best = [shape.positions[k], shape.positions[k + 1], shape.positions[k + 2]];
      }
    });
    return best;
  },
});
