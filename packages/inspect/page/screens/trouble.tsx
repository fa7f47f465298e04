/** What went wrong: what may have run twice, what failed, what does not answer. */
import type { TroubleReport, TroubleRow } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { Row, useRows } from '../parts/rows.js';
import { Clock, FrameLink } from '../parts/when.js';
import { useReportAt } from '../state/use-report.js';
import { ownerName, safe } from '../words/names.js';
import type { ScreenProps } from './screen.js';

const KINDS: Readonly<Record<TroubleRow['kind'], string>> = {
  again: 'started again',
  unknown: 'outcome unknown',
  late: 'answered late',
  cell: 'cell failed',
  service: 'no answer',
};

/** One row of trouble. */
export function TroubleLine({ row: { kind, what, of, place } }: { readonly row: TroubleRow }) {
  return (
    <div class="cols">
      <span class="tag failed">{KINDS[kind] ?? kind}</span>
      <span class="what">{safe(what)}</span>
      <span class="who">{of === null ? '' : ownerName(of)}</span>
      <span class="age num">
        {place !== null && (
          <>
            <Clock ms={place.at} /> <FrameLink frame={place.frame} />
          </>
        )}
      </span>
    </div>
  );
}

/** The list of trouble. */
export function Trouble(_props: ScreenProps) {
  const answer = useReportAt<TroubleReport>('trouble');
  return (
    <Shown of={answer} what="what went wrong">
      {({ rows, next }) => <List rows={rows} hasMore={next !== null} />}
    </Shown>
  );
}

function List({ rows, hasMore }: { readonly rows: readonly TroubleRow[]; readonly hasMore: boolean }) {
  const ids = rows.map(({ place, kind }, i) => `${kind}-${place?.frame ?? ''}-${i}`);
  const sel = useRows(ids);
  return (
    <div class="single">
      <Part title="Trouble" count={rows.length}>
        {rows.length === 0 && (
          <Empty>
            Nothing failed, and nothing may have run twice: each effect was started once, and has one outcome.
          </Empty>
        )}
        {rows.map((row, i) => (
          <Row key={ids[i]} id={ids[i] ?? ''} isSelected={ids[i] === sel} isFirst={i === 0} class="trouble">
            <TroubleLine row={row} />
          </Row>
        ))}
        {hasMore && <p class="quiet">There are more rows: reprise trouble lists all.</p>}
      </Part>
    </div>
  );
}
