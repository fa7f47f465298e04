/** What agents keep: each item with its writer, its group, the verdicts on it, and how many may read it. */
import type { MemoryRow } from '@reprise/operators';
import type { MemoryReport } from '../../../src/contract/reports.js';
import { Empty, Shown } from '../../parts/answer.js';
import { Part } from '../../parts/facts.js';
import { Row, useRows } from '../../parts/rows.js';
import { hrefOf, useRoute } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { safe } from '../../words/names.js';
import type { ScreenProps } from '../screen.js';
import { Item } from './item.js';
import { ReaderCount } from './readers.js';
import { authorName, oddities, storeName, verdictsOf } from './words.js';

/** The memories of all stores, or of the store that the address names. */
export function Memory(_props: ScreenProps) {
  const [store, id] = useRoute().parts;
  const answer = useReportAt<MemoryReport>('memory', { item: store });
  return (
    <Shown of={answer} what="what agents keep">
      {(report) => <List report={report} named={id === undefined ? undefined : `${store}#${id}`} />}
    </Shown>
  );
}

interface ListProps {
  readonly report: MemoryReport;
  /** The item that the address names. */
  readonly named: string | undefined;
}

function List({ report: { rows, stores, next }, named }: ListProps) {
  const sel = useRows(rows.map(({ item }) => item)) ?? named;
  const [store] = useRoute().parts;
  const title =
    store === undefined ? 'What agents keep' : `What is kept in ${storeName(rows[0] ?? { store, store_of: null })}`;
  const all = store === undefined ? undefined : <a href={hrefOf({ screen: 'memory' })}>all stores</a>;
  const count = `${rows.length}${next === null ? '' : ' or more'} in ${stores} ${stores === 1 ? 'store' : 'stores'}`;
  return (
    <div class={sel === undefined ? 'single' : 'split'}>
      <Part title={title} count={rows.length === 0 ? undefined : count} aside={all}>
        {rows.length === 0 && <Empty>Nothing was kept up to this frame.</Empty>}
        {rows.length > 0 && (
          <div class="kept heads" aria-hidden="true">
            <span>item</span>
            <span>by</span>
            <span>group</span>
            <span>verdicts</span>
            <span>readers</span>
          </div>
        )}
        {rows.map((row, i) => (
          <Row key={row.item} id={row.item} isSelected={row.item === sel} isFirst={i === 0}>
            <Line row={row} />
          </Row>
        ))}
        {next !== null && <p class="quiet">There are more: reprise memory lists all.</p>}
      </Part>
      {sel !== undefined && <Item key={sel} item={sel} />}
    </div>
  );
}

function Line({ row }: { readonly row: MemoryRow }) {
  const { store, words, verdicts } = row;
  const odd = oddities(row);
  const judged = verdictsOf(verdicts);
  return (
    <div class="kept">
      <span>
        {words === null ? <span class="quiet">its words are gone</span> : safe(words)}
        {odd.map((one) => (
          <span key={one} class={`note ${one.startsWith('written') ? 'warn' : ''}`}>
            {one}
          </span>
        ))}
      </span>
      <span class="who">{authorName(row)}</span>
      <a href={hrefOf({ screen: 'memory', parts: [store], query: { sel: null } })}>{storeName(row)}</a>
      <span class={judged.includes('wrong') ? 'bad' : ''}>
        {judged === '' ? <span class="quiet">not judged</span> : judged}
      </span>
      <span>
        <ReaderCount store={store} />
        <span class="small"> may read it</span>
      </span>
    </div>
  );
}
