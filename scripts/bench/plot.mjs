/*
 * Draws the ratios of a run of `npm run bench -- --only turns --out FILE` as SVG:
 *
 *   node scripts/bench/plot.mjs FILE > docs/benchmarks/turns.svg
 */
import { readFileSync } from 'node:fs';

const ROWS = [
  ['live', 'live turn, CPU'],
  ['verify', 'verify a turn, CPU'],
  ['open', 'open the world, CPU'],
  ['frameBytes', 'frame bytes of a turn'],
  ['fileBytes', 'stored bytes of a turn'],
];
const COLORS = ['#3b6ea5', '#c05a2b', '#5c8a3a'];
const [LEFT, WIDTH, BAR, GAP] = [190, 420, 14, 16];

const { cases, against, seed, machine } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const parts = [];
let y = 40;
for (const [key, title] of ROWS) {
  parts.push(text(LEFT - 8, y + (cases.length * BAR) / 2 + 4, title, 'end'));
  for (const [i, { now, before }] of cases.entries()) {
    if (now[key] === undefined) continue;
    const ratio = now[key] / before[key];
    parts.push(
      `<rect x="${LEFT}" y="${y + i * BAR}" width="${Math.round(ratio * WIDTH)}" height="${BAR - 3}" fill="${COLORS[i]}"/>`,
    );
    parts.push(text(LEFT + Math.round(ratio * WIDTH) + 6, y + i * BAR + 9, ratio.toFixed(2), 'start', 10));
  }
  y += cases.length * BAR + GAP;
}
parts.push(`<line x1="${LEFT + WIDTH}" y1="30" x2="${LEFT + WIDTH}" y2="${y}" stroke="#888" stroke-dasharray="4 3"/>`);
parts.push(text(LEFT + WIDTH, 22, `${against} = 1`, 'middle', 11));
for (const [i, { name }] of cases.entries()) {
  parts.push(`<rect x="${LEFT + i * 190}" y="${y + 4}" width="10" height="10" fill="${COLORS[i]}"/>`);
  parts.push(text(LEFT + i * 190 + 15, y + 13, name, 'start', 11));
}
parts.push(text(8, y + 34, `seed ${seed}; ${machine}`, 'start', 10));
console.log(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 150}" height="${y + 44}" font-family="sans-serif">\n<title>Ratios of a run to ${against}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join('\n')}\n</svg>`,
);

function text(x, at, words, anchor, size = 12) {
  return `<text x="${x}" y="${at}" text-anchor="${anchor}" font-size="${size}" fill="#222">${words}</text>`;
}
