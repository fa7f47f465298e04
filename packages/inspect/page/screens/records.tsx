/** The records as they are: the only screens with digests in full. */
import type { BlobReport, RecordReport, RecordsReport } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { Json } from '../parts/json.js';
import { Row, useRows } from '../parts/rows.js';
import { Whole } from '../parts/text.js';
import { Clock } from '../parts/when.js';
import { useKeys } from '../state/keys.js';
import { useLive } from '../state/live.js';
import { go, here, hrefOf, set, useRoute } from '../state/router.js';
import { useReport } from '../state/use-report.js';
import { size } from '../words/numbers.js';
import type { ScreenProps } from './screen.js';

/** How many frames stand on one page. */
const LIMIT = 50;

/** The frames up to the one that is shown. */
export function Records(_props: ScreenProps) {
  const { query } = useRoute();
  const { frame } = useLive();
  const end = Number(query.at ?? frame);
  const limit = query.from === undefined ? Math.max(1, Math.min(LIMIT, end + 1)) : LIMIT;
  const from = query.from === undefined ? Math.max(0, end - LIMIT + 1) : Number(query.from);
  const answer = useReport<RecordsReport>(frame < 0 ? null : 'records', { from, limit });
  return (
    <div class="single records">
      <div class="bar">
        <button type="button" disabled={from <= 0} onClick={() => set({ from: Math.max(0, from - LIMIT) })}>
          earlier
        </button>
        <button type="button" disabled={from + limit > frame} onClick={() => set({ from: from + limit })}>
          later
        </button>
        <span class="quiet num">
          frames {from} to {Math.min(frame, from + limit - 1)} of {frame}
        </span>
      </div>
      <Shown of={answer} what="the records">
        {(report) => <Frames report={report} />}
      </Shown>
    </div>
  );
}

/** One frame, or one record of it. */
export function Frame(_props: ScreenProps) {
  const [seq = '0', i] = useRoute().parts;
  const answer = useReport<RecordsReport>('records', { from: seq, limit: 1 });
  const record = useReport<RecordReport>(i === undefined ? null : 'record', { frame: seq, i });
  return (
    <div class="single records">
      <div class="bar">
        <a class="button" href={hrefOf({ screen: 'f', parts: [Math.max(0, Number(seq) - 1)] })}>
          earlier
        </a>
        <a class="button" href={hrefOf({ screen: 'f', parts: [Number(seq) + 1] })}>
          later
        </a>
        <a class="button" href={hrefOf({ screen: 'now', query: { at: seq } })}>
          everything as of this frame
        </a>
      </div>
      {i !== undefined && (
        <Part title={`Record ${seq}.${i}`}>
          <Shown of={record} what="the record">
            {({ record: value }) => <Json value={value} open />}
          </Shown>
        </Part>
      )}
      <Shown of={answer} what="the frame">
        {(report) => <Frames report={report} />}
      </Shown>
    </div>
  );
}

function Frames({ report: { frames } }: { readonly report: RecordsReport }) {
  const rows = frames.flatMap(({ seq, records }) => records.map((words, i) => ({ seq, i, words, id: `${seq}.${i}` })));
  const sel = useRows(rows.map(({ id }) => id));
  useKeys({
    Enter: () => {
      const row = rows.find(({ id }) => id === here().query.sel);
      if (row === undefined) return false;
      go({ screen: 'f', parts: [row.seq, row.i] });
    },
  });
  if (frames.length === 0) return <Empty>There is no such frame.</Empty>;
  return (
    <>
      {frames.map(({ seq, at, head, bytes }) => (
        <section key={seq} class="frame">
          <h2 class="num">
            <a href={hrefOf({ screen: 'f', parts: [seq] })}>frame {seq}</a> <Clock ms={at} />{' '}
            <span class="quiet">
              {size(bytes)} · head {head}
            </span>
          </h2>
          {rows
            .filter((row) => row.seq === seq)
            .map((row) => (
              <Row key={row.id} id={row.id} isSelected={row.id === sel} isFirst={row === rows[0]} class="record">
                <a class="num" href={hrefOf({ screen: 'f', parts: [seq, row.i] })}>
                  {row.id}
                </a>{' '}
                <code>{withoutPlace(row.words)}</code>
              </Row>
            ))}
        </section>
      ))}
    </>
  );
}

/** A line of `reprise tail` without its place and time, which stand before it here. */
function withoutPlace(words: string): string {
  return words.replace(/^\s*\d+\.\d+\s+\d{4}-\d\d-\d\dT\S+\s+/, '');
}

/** Content by its digest. */
export function Blob(_props: ScreenProps) {
  const [digest = ''] = useRoute().parts;
  const answer = useReport<BlobReport>('blob', { digest });
  return (
    <div class="single records">
      <Shown of={answer} what="the content">
        {({ bytes, kind, text, next }) => (
          <Part
            title={`sha256:${digest}`}
            aside={
              <span class="quiet">
                {kind}, {size(bytes)}
              </span>
            }
          >
            <Whole text={text} code />
            {next !== null && <p class="quiet">The first part of it: reprise show prints all.</p>}
          </Part>
        )}
      </Shown>
    </div>
  );
}
