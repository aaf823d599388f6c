// Elements of the page: found, or made.

"use strict";

const $ = (id) => document.getElementById(id);

const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
};

// Colours of the heat maps, sRGB from 0 to 1; the shader, the legend and the bodies take them from here. `far` to `touch`: contact.
const HEAT = {
  low: [0.16, 0.4, 0.82], middle: [0.87, 0.87, 0.86], high: [0.84, 0.17, 0.15], over: [0.38, 0, 0.22],
  far: [0.74, 0.75, 0.77], close: [0.98, 0.72, 0.32], touch: [0.8, 0.2, 0.09], neutral: [0.66, 0.67, 0.68],
};

// From -1 to 1; what is over goes on to a dark red, so that it is found.
function diverging(value) {
  const mix = (a, b, part) => a.map((x, k) => x + part * (b[k] - x));
  const inside = mix(HEAT.middle, value < 0 ? HEAT.low : HEAT.high, Math.min(1, Math.abs(value)));
  const over = Math.max(0, Math.min(1, (value - 1.02) / 0.48));
  return mix(inside, HEAT.over, over * over * (3 - 2 * over));
}

// A colour of three parts from 0 to 1, for style sheets.
const css = (colour) => `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")})`;
