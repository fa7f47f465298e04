/** Who may read an item, and who may not, each with the reason. */
import type { ReaderRow } from '@reprise/operators';
import type { ReadersReport } from '../../../src/contract/reports.js';
import { Shown } from '../../parts/answer.js';
import { useReportAt } from '../../state/use-report.js';
import { holderName, reasonWords } from './words.js';

/** The readers of an item or of a store. */
export function Readers({ item }: { readonly item: string }) {
  const answer = useReportAt<ReadersReport>('readers', { item });
  return (
    <Shown of={answer} what="who may read it">
      {({ rows, next }) => (
        <>
          <Side title="may read it" rows={rows.filter(({ may }) => may)} />
          <Side title="may not" rows={rows.filter(({ may }) => !may)} />
          {next !== null && <p class="quiet">There are more: reprise readers lists all.</p>}
        </>
      )}
    </Shown>
  );
}

function Side({ title, rows }: { readonly title: string; readonly rows: readonly ReaderRow[] }) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>
        {title} <span class="count">{rows.length}</span>
      </h3>
      <ul class="readers">
        {rows.map((row) => (
          <li key={row.holder}>
            {holderName(row)} <span class="quiet">{reasonWords(row)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** How many may read a store. Items of one store have the same readers, so that it is asked once. */
export function ReaderCount({ store }: { readonly store: string }) {
  const { data } = useReportAt<ReadersReport>('readers', { item: store });
  if (data === undefined) return <>…</>;
  const may = data.rows.filter(({ may: isReader }) => isReader).length;
  return <>{data.next === null ? may : `${may} or more`}</>;
}
