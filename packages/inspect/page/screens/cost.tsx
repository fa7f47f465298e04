/** What it cost: by agent and day, by node, task or model, with what the sums leave out in sentences. */
import type { CostKey, CostRow } from '@reprise/operators';
import type { CostReport } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { useKeys } from '../state/keys.js';
import { set, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { plain, safe } from '../words/names.js';
import { amount, money, short, whole } from '../words/numbers.js';
import { CostChart } from './cost-chart.js';
import type { ScreenProps } from './screen.js';

const KEYS: readonly CostKey[] = ['agent', 'model', 'node', 'task', 'day'];

/** What it cost. */
export function Cost(_props: ScreenProps) {
  const by = keyIn(useRoute().query.by);
  const rows = useReportAt<CostReport>('cost', { by });
  const days = useReportAt<CostReport>(by === 'day' ? null : 'cost', { by: `${by},day` });
  const step = (to: number) => () => set({ by: KEYS[(KEYS.indexOf(by) + to + KEYS.length) % KEYS.length] ?? 'agent' });
  useKeys({ ArrowRight: step(1), ArrowLeft: step(-1) });
  return (
    <div class="single cost">
      <Shown of={rows} what="the cost">
        {(report) => (
          <>
            <Total report={report} />
            <div class="choice" role="group" aria-label="By">
              {KEYS.map((key) => (
                <button key={key} type="button" aria-pressed={key === by} onClick={() => set({ by: key })}>
                  by {key}
                </button>
              ))}
            </div>
            {days.data !== undefined && <CostChart report={days.data} />}
            <Table report={report} name={by} />
            {days.data !== undefined && <Days report={days.data} name={by} />}
          </>
        )}
      </Shown>
    </div>
  );
}

function keyIn(text: string | undefined): CostKey {
  return KEYS.find((key) => key === text) ?? 'agent';
}

function Total({ report: { total, notes } }: { readonly report: CostReport }) {
  return (
    <header class="head">
      <h2>
        <span class="big num">
          {total.calls > 0 && total.unpriced === total.calls ? 'no price' : money(total.micro_money)}
        </span>{' '}
        <span class="quiet num">
          {amount(total.calls, 'model call')} · {whole(total.tokens_in)} tokens in, {whole(total.tokens_out)} out
        </span>
      </h2>
      {notes.map((note) => (
        <p key={note} class={total.unpriced > 0 || total.repeated > 0 ? 'warn' : 'quiet'}>
          {safe(note)}
        </p>
      ))}
    </header>
  );
}

/** The name of a row, where a key may not apply. */
export function keyName(key: string | null | undefined, by: string): string {
  return key === null || key === undefined ? `no ${by}` : plain(safe(key));
}

function Table({ report: { rows }, name }: { readonly report: CostReport; readonly name: string }) {
  if (rows.length === 0) return <Empty>No model has been called yet.</Empty>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Cost by ${name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <th scope="col" class="n">
              cost
            </th>
            <th scope="col" class="n">
              calls
            </th>
            <th scope="col" class="n">
              in
            </th>
            <th scope="col" class="n">
              out
            </th>
            <th scope="col" class="n second">
              cached
            </th>
            <th scope="col" class="n second">
              no price
            </th>
            <th scope="col" class="n second">
              repeated
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <CostLine key={row.keys.join()} row={row} name={name} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CostLine({ row, name }: { readonly row: CostRow; readonly name: string }) {
  const isUnpriced = row.unpriced > 0;
  return (
    <tr>
      <th scope="row">{keyName(row.keys[0], name)}</th>
      <td class="n" title={isUnpriced ? `${row.unpriced} without a price` : undefined}>
        {isUnpriced && <i class="hatched" />}
        {money(row.micro_money)}
      </td>
      <td class="n">{whole(row.calls)}</td>
      <td class="n">{short(row.tokens_in)}</td>
      <td class="n">{short(row.tokens_out)}</td>
      <td class="n second">{short(row.tokens_cached)}</td>
      <td class="n second">{row.unpriced === 0 ? '–' : row.unpriced}</td>
      <td class="n second">{row.repeated === 0 ? '–' : row.repeated}</td>
    </tr>
  );
}

/** One column for each day. */
function Days({ report, name }: { readonly report: CostReport; readonly name: string }) {
  const days = [...new Set(report.rows.map(({ keys }) => keys[1] ?? ''))].sort();
  const names = [...new Set(report.rows.map(({ keys }) => keys[0] ?? null))];
  if (days.length === 0) return null;
  const cell = (key: string | null, day: string) =>
    report.rows.find(({ keys }) => (keys[0] ?? null) === key && keys[1] === day);
  return (
    <Part title={`By ${name} and day`}>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Cost by ${name} and day`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{name}</th>
              {days.map((day) => (
                <th key={day} scope="col" class="n num">
                  {day}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((key) => (
              <tr key={key ?? ''}>
                <th scope="row">{keyName(key, name)}</th>
                {days.map((day) => {
                  const row = cell(key, day);
                  return (
                    <td key={day} class="n">
                      {row !== undefined && row.unpriced > 0 && <i class="hatched" />}
                      {row === undefined ? '–' : money(row.micro_money)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Part>
  );
}
