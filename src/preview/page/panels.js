// Everything that is said in words: titles, states, figures, the legend, and what went wrong.

Object.assign(Viewer.prototype, {
  // Something that does not go away by itself and stops the viewer, or a fault of its own.
  fault(error, stops = false) {
    const text = error instanceof Trouble ? error.message : `The viewer made a mistake: ${error?.message ?? error}`;
    this.errors.push(text);
    if (stops || !this.hasPicture()) {
      this.card("This cannot be shown", text, !this.exported());
      this.rejectReady(new Error(text));
    } else {
      this.troubles.set("fault", text);
      this.showTrouble();
    }
  },

  // Something that is tried again; null when it is over.
  trouble(what, error) {
    if (error === null) {
      if (!this.troubles.delete(what)) return;
    } else {
      const text = error instanceof Trouble ? error.message : String(error?.message ?? error);
      if (this.troubles.get(what) !== text) this.errors.push(text);
      this.troubles.set(what, text);
    }
    this.showTrouble();
  },

  showTrouble() {
    const [text] = this.troubles.values();
    $("trouble").hidden = text === undefined;
    $("trouble").textContent = text === undefined ? "" : this.exported() || this.troubles.has("fault") ? text : `${text} Trying again …`;
  },

  card(title, text, again = false) {
    const box = element("div");
    box.append(element("h2", "", title), element("p", "", text));
    if (again) {
      const button = element("button", "", "Try again");
      button.addEventListener("click", () => location.reload());
      box.append(button);
    }
    $("card").replaceChildren(box);
    $("card").hidden = false;
  },

  say(text) {
    $("busy").hidden = text === null;
    if (text !== null) $("busy").lastElementChild.textContent = text;
  },

  showBusy(whole, now) {
    if (whole || this.numbers.length === 0) {
      this.waitingSince = null;
      this.say(null);
      return;
    }
    this.waitingSince ??= now;
    const contact = this.shown === this.index;
    if (now - this.waitingSince > 150) this.say(contact ? "Working out contact" : `Loading frame ${this.numbers[this.index]}`);
    else setTimeout(() => this.wake(), 160);
  },

  showTimeline() {
    this.timeline.setData(this.bakes.map(({ about }) => about), this.bakes.map(({ log }) => log), this.numbers, this.range());
    const names = [...new Set(this.bakes.flatMap(({ log }) => log.names))];
    const key = names.join("\n");
    if (key !== this.whoseKey) {
      this.whoseKey = key;
      $("whose").replaceChildren(new Option("Worst of all objects", ""), ...names.map((name) => new Option(name, name)));
      $("whose").value = this.timeline.name ?? "";
    }
    $("whose-label").hidden = names.length < 2;
    $("worst").disabled = !this.bakes.some(({ log, about }) => log.worst(about.frames));
    this.showNumber();
  },

  showNumber() {
    const last = this.range()[1];
    if (document.activeElement !== $("number")) $("number").value = this.numbers.length > 0 ? String(this.numbers[this.index]) : "–";
    $("of").textContent = this.numbers.length > 0 ? `of ${last}` : "";
  },

  showControls() {
    const press = (id, on) => $(id).setAttribute("aria-pressed", String(on));
    $("play").querySelector("use").setAttribute("href", this.playing ? "#icon-pause" : "#icon-play");
    $("play").title = this.playing ? "Pause (space)" : "Play (space)";
    press("loop", this.loop);
    press("wire", this.wire !== "off");
    press("smooth", this.smooth);
    press("graphs", !document.body.classList.contains("without-graphs"));
    press("objects-toggle", !document.body.classList.contains("without-objects"));
    $("rate").textContent = `${Number((this.fps() * this.speed).toFixed(2))} frames/s`;
    document.querySelectorAll("[data-colouring]").forEach((button) => {
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(button.dataset.colouring === this.colouring));
    });
    document.querySelectorAll("[data-compare]").forEach((button) => {
      button.setAttribute("role", "radio");
      button.setAttribute("aria-checked", String(button.dataset.compare === this.compare));
    });
    $("compares").hidden = this.bakes.length < 2;
    const contact = document.querySelector('[data-colouring="contact"]');
    const keeps = this.contactReach() > 0;
    contact.disabled = !keeps || (this.exported() && !this.bakes.some((_, bake) => this.source.has(bake, "contact")));
    if (contact.disabled) contact.title = keeps ? "This page was exported without contact" : "Nothing in here keeps a distance to other objects";
    const volume = document.querySelector('[data-colouring="volume"]');
    volume.disabled = this.bakes.every(({ about }) => about.status === null);
    if (volume.disabled) volume.title = "glTF files say nothing about volume";
  },

  // Titles, states, captions, and what there is to say when there is no frame.
  showStates() {
    const words = {
      complete: ["complete", "good"], running: ["baking", "running"], failed: ["failed", "bad"], gates_failed: ["missed its gates", "warn"],
    };
    $("titles").replaceChildren(...this.bakes.map(({ about }, bake) => {
      const title = element("span", bake === 1 ? "title second" : "title");
      if (this.bakes.length > 1) title.append(element("span", "dot"));
      title.append(element("b", "", about.title));
      const [text, kind] = words[about.status] ?? [];
      if (text) {
        const planned = about.planned_frames;
        const progress = about.status === "running" && planned ? ` ${about.frames[about.frames.length - 1] ?? "–"} of ${planned[1]}` : "";
        const chip = element("span", `chip ${kind}`, text + progress);
        chip.title = about.message ?? "";
        title.append(chip);
      }
      return title;
    }));
    document.title = `${this.bakes.map(({ about }) => about.title).join(" and ")} – Kiln`;
    const failed = this.bakes.find(({ about }) => about.status === "failed");
    if (this.numbers.length === 0) {
      const { about } = this.bakes[0];
      if (about.status === "running") this.card("No frame yet", "The bake has begun. Its first frame appears here as soon as it is written.");
      else this.card("There is no frame", about.message ?? "The bake ended before its first frame was written.");
    } else {
      $("card").hidden = true;
    }
    // What stopped the bake is said once, above the picture of what it left.
    this.trouble("bake", failed && this.numbers.length > 0 ? new Trouble(`The bake of "${failed.about.title}" failed. ${failed.about.message ?? ""}`) : null);
    this.showCaptions();
  },

  showCaptions() {
    const captions = [];
    if (this.bakes.length > 1) {
      this.bakes.forEach((made, bake) => {
        const caption = element("div", bake === 1 ? "caption second" : "caption");
        caption.append(element("span", "dot"));
        const frame = made.about.frames[made.decoded];
        const text = element("span");
        text.append(element("b", "", made.about.title), ` frame ${frame ?? "–"}`);
        caption.append(text);
        captions.push(caption);
      });
    }
    $("captions").classList.toggle("overlaid", this.compare === "overlay");
    $("captions").replaceChildren(...captions);
  },

  // What changes with every frame besides the picture.
  showFrameFacts() {
    this.showNumber();
    if (this.bakes.length > 1) this.showCaptions();
    for (const row of $("objects").querySelectorAll(".object")) this.showFigures(row.dataset.name, row.querySelector(".figures"));
    const frame = this.numbers[this.shown];
    const degraded = this.bakes.flatMap(({ log, about, decoded }) => log.degraded(about.frames[decoded]).map((entry) => log.describe(entry)));
    if (this.told && this.told.frame !== frame && this.shown === this.index) this.told = null;
    const told = this.told?.text ?? "";
    $("said").textContent = degraded.length > 0 ? degraded.join("; ") : told;
    $("said").title = $("said").textContent;
    $("said").style.color = degraded.length > 0 ? "" : "var(--warn)";
    const facts = $("objects").querySelector(".facts");
    if (!facts) return;
    const rows = [];
    this.bakes.forEach(({ log, about, decoded }) => {
      const record = log.records.get(about.frames[decoded]);
      if (!record) return;
      const title = this.bakes.length > 1 ? `${about.title}: ` : "";
      rows.push([`${title}time`, seconds(record.seconds)], [`${title}substeps`, String(record.substeps)]);
    });
    facts.hidden = rows.length === 0;
    facts.replaceChildren(...rows.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
  },

  showFigures(name, place) {
    const lines = [];
    for (const { log, about, decoded } of this.bakes) {
      const record = log.object(about.frames[decoded], name);
      if (!record) continue;
      const parts = [];
      if (record.max_volume_error !== undefined) parts.push(`volume error ${percent(record.max_volume_error)}`);
      else parts.push(`stretch ${percent(record.max_stretch)}`);
      if (record.contacts > 0) parts.push(`${record.contacts} contacts`);
      if (record.crossings > 0) parts.push(`${record.crossings} crossings`);
      const kind = (record.degraded ?? []).length > 0 ? "bad" : about === this.bakes[1]?.about ? "second" : "";
      lines.push(element("div", kind, parts.join(" · ")));
    }
    place.replaceChildren(...lines);
  },

  showObjects() {
    const kinds = { cloth: "cloth", soft_body: "soft body", render: "render mesh", collider: "collider", mesh: "mesh" };
    const heading = element("h2", "", "Objects");
    const all = element("button", "", "show all");
    all.addEventListener("click", () => {
      this.hidden.clear();
      this.bakes.forEach((made) => this.markVertices(made));
      this.measure();
      this.showObjects();
      this.changed();
    });
    if (this.hidden.size > 0) heading.append(all);
    const seen = new Map();
    for (const { about } of this.bakes) for (const object of about.objects) if (!seen.has(object.name)) seen.set(object.name, object);
    const rows = [...seen.values()].map((object) => {
      const shown = !this.hidden.has(object.name);
      const row = element("button", "object");
      row.dataset.name = object.name;
      row.setAttribute("aria-pressed", String(shown));
      row.title = `${object.name}: ${object.vertices} vertices, ${object.triangles} triangles. Click to ${shown ? "hide" : "show"}, with alt to show it alone`;
      const swatch = element("span", "swatch");
      swatch.style.background = css(object.colour);
      const name = element("span", "name", object.name);
      name.append(element("small", "", kinds[object.kind] ?? object.kind));
      const eye = element("span", "eye");
      eye.append(icon(shown ? "eye" : "hidden"));
      const figures = element("span", "figures");
      row.append(swatch, name, eye, figures);
      row.addEventListener("click", (event) => this.toggle(object.name, event.altKey));
      this.showFigures(object.name, figures);
      return row;
    });
    const facts = element("dl", "facts");
    const scroll = $("objects").scrollTop;
    $("objects").replaceChildren(heading, ...rows, facts);
    $("objects").scrollTop = scroll;
    if (this.shown >= 0) this.showFrameFacts();
  },

  // From how far on nothing is near; zero where no bake has anything that keeps a distance.
  contactReach() {
    return Math.max(0, ...this.bakes.map(({ about }) => about.contact_reach ?? 0));
  },

  showLegend() {
    const legend = $("legend");
    legend.hidden = this.colouring === "object";
    if (legend.hidden) return;
    const scale = element("div", "scale");
    const ends = element("div", "ends");
    const show = (title, texts, note) => {
      // Words stand below what they say: [place from 0 to 1, text].
      ends.append(...texts.map(([place, text]) => {
        const word = element("span", "", text);
        word.style.left = `${100 * place}%`;
        word.style.transform = `translateX(${-100 * place}%)`;
        return word;
      }));
      legend.replaceChildren(element("h3", "", title), scale, ends);
      if (note) legend.append(element("p", "", note));
    };
    const stops = (values) => values.map((value) => css(diverging(value))).join(", ");
    if (this.colouring === "contact") {
      scale.style.background = `linear-gradient(90deg, ${[HEAT.far, HEAT.close, HEAT.touch].map(css).join(", ")})`;
      show("Distance to the nearest other object", [[0, `${millimetres(this.contactReach())} or more`], [1, "touches"]]);
      return;
    }
    if (this.colouring === "volume") {
      const limit = this.volumeLimit();
      scale.style.background = `linear-gradient(90deg, ${stops([0, 0.5, 1, 1.5])})`;
      const known = this.bakes.some(({ log }) => log.worstOf(METRICS[1], log.records.keys(), null));
      const given = this.bakes.some(({ about }) => about.gates?.max_volume_error > 0);
      show("Volume error of each body's worst part", [[0, "0"], [0.67, percent(limit)], [1, "over"]],
        known ? (given ? "The scale is the gate max_volume_error." : "There is no gate; the scale is 1 %.") : "The log says nothing about volume: there is no soft body.");
      return;
    }
    scale.style.background = `linear-gradient(90deg, ${stops([-1, -0.5, 0, 0.5, 1, 1.5])})`;
    const limits = [];
    for (const made of this.bakes) {
      made.about.objects.forEach((object, o) => {
        if (object.stretch && !this.hidden.has(object.name)) limits.push([object.name, this.stretchLimit(made, o), object.limit > 0]);
      });
    }
    const values = [...new Set(limits.map(([, limit]) => limit))];
    if (values.length === 0) {
      show("Edge stretch", [], "No object that is shown has edges that keep a length.");
    } else if (values.length === 1) {
      show("Edge stretch", [[0, `−${percent(values[0])}`], [0.4, "0"], [0.75, percent(values[0])], [1, "over"]],
        limits.every(([, , given]) => given) ? "The scale is the limit of the object." : "No limit was given; the scale is the largest stretch of the bake.");
    } else {
      const list = [...new Map(limits.map(([name, limit]) => [name, limit]))].slice(0, 5).map(([name, limit]) => `${name} ${percent(limit)}`);
      show("Edge stretch, by the limit of each object", [[0, "shorter"], [0.4, "0"], [0.78, "limit"], [1, "over"]], list.join(", ") + (limits.length > 5 ? ", …" : ""));
    }
  },
});
