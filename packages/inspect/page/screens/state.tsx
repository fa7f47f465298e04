/** The cells of a world, and the state of one of them after the frame that is shown. */
import { useState } from 'preact/hooks';
import type { CellsReport, StateReport } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { Json } from '../parts/json.js';
import { Row, useRows } from '../parts/rows.js';
import { useKeys } from '../state/keys.js';
import { go, here, hrefOf, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { cellName, safe } from '../words/names.js';
import type { ScreenProps } from './screen.js';

/** The list of cells. */
export function Cells(_props: ScreenProps) {
  const [prefix, setPrefix] = useState('');
  const answer = useReportAt<CellsReport>('cells', { prefix: prefix === '' ? null : prefix, limit: 500 });
  return (
    <div class="single">
      <label class="bar">
        <span class="quiet">cells that begin with</span>
        <input type="text" value={prefix} onInput={({ currentTarget }) => setPrefix(currentTarget.value.trim())} />
      </label>
      <Shown of={answer} what="the cells">
        {(report) => <List report={report} />}
      </Shown>
    </div>
  );
}

function List({ report: { cells, next } }: { readonly report: CellsReport }) {
  const sel = useRows(cells);
  useKeys({
    Enter: () => {
      const cell = here().query.sel;
      if (cell === undefined) return false;
      go({ screen: 'cell', parts: [cell] });
    },
  });
  return (
    <Part title="State of" count={`${cells.length} cells`}>
      {cells.length === 0 && <Empty>There is no such cell at this frame.</Empty>}
      {cells.map((cell, i) => (
        <Row key={cell} id={cell} isSelected={cell === sel} isFirst={i === 0} class="node">
          <a href={hrefOf({ screen: 'cell', parts: [cell] })}>{cellName(safe(cell))}</a>
        </Row>
      ))}
      {next !== null && <p class="quiet">There are more cells: write how their address begins.</p>}
    </Part>
  );
}

/** The state of one cell. */
export function Cell(_props: ScreenProps) {
  const cell = useRoute().parts.join('/');
  const answer = useReportAt<StateReport>('state', { cell });
  return (
    <div class="single">
      <Shown of={answer} what="the state of this cell">
        {({ frame, state, replayed }) => (
          <Part
            title={cellName(safe(cell))}
            aside={<span class="good">{replayed ? `replayed up to frame ${frame}, head matches ✓` : ''}</span>}
          >
            {state === null || state === undefined ? (
              <Empty>The cell does not exist at frame {frame}.</Empty>
            ) : (
              <div class="detail flat">
                <Json value={state} open />
              </div>
            )}
          </Part>
        )}
      </Shown>
    </div>
  );
}
