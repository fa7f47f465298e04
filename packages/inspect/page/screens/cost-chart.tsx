/** Cost over time: one stacked area for each row of the table, by day. Calls without a price are a hatched edge above. */
import type { CostReport } from '../../src/contract/reports.js';
import { money } from '../words/numbers.js';
import { keyName } from './cost.js';

const WIDTH = 1_000;
const HEIGHT = 160;
/** So many rows have a shade of their own; the rest is one. */
const SHADES = 6;

interface Layer {
  readonly name: string;
  readonly values: readonly number[];
}

/** The chart; nothing when there are fewer than two days. */
export function CostChart({ report }: { readonly report: CostReport }) {
  const days = [...new Set(report.rows.map(({ keys }) => keys[1] ?? ''))].sort();
  if (days.length < 2) return null;
  const layers = layersOf(report, days);
  const sums = days.map((_, i) => layers.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const most = Math.max(1, ...sums);
  const x = (i: number) => (i / (days.length - 1)) * WIDTH;
  const y = (value: number) => HEIGHT - (value / most) * (HEIGHT - 8);
  const floor = days.map(() => 0);
  const unpriced = days.map((day) => report.rows.some(({ keys, unpriced: n }) => keys[1] === day && n > 0));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={labelOf(days, sums)}>
        <defs>
          <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="hatch" width="2" height="6" />
          </pattern>
        </defs>
        {layers.map(({ name, values }, n) => {
          const bottom = [...floor];
          values.forEach((value, i) => {
            floor[i] = (floor[i] ?? 0) + value;
          });
          const up = floor.map((value, i) => `${x(i)},${y(value)}`);
          const down = bottom.map((value, i) => `${x(i)},${y(value)}`).reverse();
          return <polygon key={name} class={`layer layer-${n}`} points={[...up, ...down].join(' ')} />;
        })}
        {unpriced.map((isUnpriced, i) =>
          isUnpriced ? (
            <rect key={days[i]} x={Math.max(0, x(i) - 8)} y={0} width={16} height={HEIGHT} fill="url(#hatch)" />
          ) : null,
        )}
      </svg>
      <figcaption>
        <span class="num quiet">
          {days[0]} – {days.at(-1)}, at most {money(most)} a day
        </span>
        <span class="legend">
          {layers.map(({ name }, n) => (
            <span key={name}>
              <i class={`layer-${n}`} /> {name}
            </span>
          ))}
          {unpriced.includes(true) && (
            <span>
              <i class="hatched" /> calls without a price
            </span>
          )}
        </span>
      </figcaption>
    </figure>
  );
}

function layersOf({ rows, by }: CostReport, days: readonly string[]): readonly Layer[] {
  const sums = new Map<string, number[]>();
  for (const { keys, micro_money } of rows) {
    const name = keyName(keys[0], by[0] ?? '');
    const values = sums.get(name) ?? days.map(() => 0);
    const i = days.indexOf(keys[1] ?? '');
    values[i] = (values[i] ?? 0) + micro_money;
    sums.set(name, values);
  }
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const all = [...sums].map(([name, values]) => ({ name, values })).sort((p, q) => total(q.values) - total(p.values));
  if (all.length <= SHADES) return all;
  const rest = all.slice(SHADES - 1);
  const values = days.map((_, i) => rest.reduce((sum, layer) => sum + (layer.values[i] ?? 0), 0));
  return [...all.slice(0, SHADES - 1), { name: `${rest.length} more`, values }];
}

function labelOf(days: readonly string[], sums: readonly number[]): string {
  return `Cost by day: ${days.map((day, i) => `${day} ${money(sums[i] ?? 0)}`).join(', ')}`;
}
