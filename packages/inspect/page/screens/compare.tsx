/** What changed between two frames: each cell, with its changes as lines that can be read. */
import type { CellDiff, Patch } from '@reprise/operators';
import { useState } from 'preact/hooks';
import type { DiffReport } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { Row, useRows } from '../parts/rows.js';
import { Text } from '../parts/text.js';
import { useLive } from '../state/live.js';
import { hrefOf, set, useRoute } from '../state/router.js';
import { useReport } from '../state/use-report.js';
import { cellName, safe } from '../words/names.js';
import type { ScreenProps } from './screen.js';

/** Two frames, compared. */
export function Compare(_props: ScreenProps) {
  const { query } = useRoute();
  const { frame } = useLive();
  const at = Number(query.at ?? frame);
  const [first, second] = [Number(query.a ?? 0), Number(query.b ?? at)];
  const [a, b] = first <= second ? [first, second] : [second, first];
  const isReady = frame >= 0 && Number.isSafeInteger(a) && Number.isSafeInteger(b);
  const answer = useReport<DiffReport>(isReady ? 'diff' : null, { a, b, cell: query.cell });
  return (
    <div class="single">
      <Chooser key={`${a} ${b}`} a={a} b={b} />
      <Shown of={answer} what="the difference">
        {(report) => <Cells report={report} />}
      </Shown>
    </div>
  );
}

function Chooser({ a, b }: { readonly a: number; readonly b: number }) {
  const [from, setFrom] = useState(String(a));
  const [to, setTo] = useState(String(b));
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        set({ a: from, b: to });
      }}
    >
      <label>
        from frame{' '}
        <input
          inputMode="numeric"
          size={7}
          value={from}
          onInput={({ currentTarget }) => setFrom(currentTarget.value)}
        />
      </label>
      <label>
        to frame{' '}
        <input inputMode="numeric" size={7} value={to} onInput={({ currentTarget }) => setTo(currentTarget.value)} />
      </label>
      <button type="submit">compare</button>
    </form>
  );
}

function Cells({ report }: { readonly report: DiffReport }) {
  const sel = useRows(report.cells.map(({ cell }) => cell));
  return (
    <Part title={`From frame ${report.a} to frame ${report.b}`} count={`${report.cells.length} cells`}>
      {report.cells.length === 0 && <Empty>No cell changed between these frames.</Empty>}
      {report.cells.map((cell, i) => (
        <Row key={cell.cell} id={cell.cell} isSelected={cell.cell === sel} isFirst={i === 0} class="diff">
          <Cell diff={cell} />
        </Row>
      ))}
      {report.next !== null && <p class="quiet">There are more cells: reprise diff lists all.</p>}
    </Part>
  );
}

const WORDS = { made: 'made', ended: 'ended', changed: 'changed' } as const;

function Cell({ diff: { cell, change, patches, logs, tables } }: { readonly diff: CellDiff }) {
  return (
    <>
      <h3>
        <a href={hrefOf({ screen: 'cell', parts: [cell] })}>{cellName(safe(cell))}</a>{' '}
        <span class={`quiet ${change}`}>{WORDS[change]}</span>
      </h3>
      <div class="patches">
        {patches.map((patch, i) => (
          <PatchLine key={i} patch={patch} />
        ))}
        {Object.entries(logs).map(([name, { from, to }]) => (
          <p key={name}>
            <span class="path">log {safe(name)}</span> {from} → {to} items
          </p>
        ))}
        {Object.entries(tables).flatMap(([table, changes]) =>
          changes.map(({ op, key, value }) => (
            <Change
              key={`${table} ${key}`}
              sign={op === 'put' ? '+' : '−'}
              path={`table ${table} · ${key}`}
              value={op === 'put' ? value : undefined}
            />
          )),
        )}
      </div>
    </>
  );
}

const SIGNS = { add: '+', remove: '−', replace: '~' } as const;

function PatchLine({ patch: { op, path, before, value } }: { readonly patch: Patch }) {
  return (
    <Change
      sign={SIGNS[op]}
      path={path.length === 0 ? 'all of it' : path.join(' › ')}
      {...(op === 'add' ? {} : { before })}
      value={op === 'remove' ? undefined : value}
    />
  );
}

interface ChangeProps {
  readonly sign: string;
  readonly path: string;
  /** The value before, where there was one. */
  readonly before?: unknown;
  readonly value: unknown;
}

function Change({ sign, path, before, value }: ChangeProps) {
  const [was, text] = [textOf(before), textOf(value)];
  return (
    <div class={`change ${sign === '+' ? 'added' : sign === '−' ? 'removed' : 'replaced'}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <span class="path">{safe(path)}</span>
      <div class="value">
        {was !== null && (
          <del>
            <Text text={was} code />
          </del>
        )}
        {text !== null && <Text text={text} code />}
      </div>
    </div>
  );
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
