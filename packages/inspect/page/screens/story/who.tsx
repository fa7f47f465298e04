/** Who is there: the sessions, by their agents and the part of an organization that they belong to. */
import type { SessionRow, SessionsReport } from '../../../src/contract/reports.js';
import { Shown } from '../../parts/answer.js';
import { hrefOf } from '../../state/router.js';
import { useReportAt } from '../../state/use-report.js';
import { ownerName, safe } from '../../words/names.js';

/** The list of sessions. @param session the key of the one that is shown */
export function Who({ session }: { readonly session: string | undefined }) {
  const answer = useReportAt<SessionsReport>('sessions');
  return (
    <nav class="who-list" aria-label="Sessions" tabIndex={0}>
      <h2>Who</h2>
      <Shown of={answer} what="the sessions">
        {({ sessions }) => (
          <ul>
            <li>
              <a href={hrefOf({ screen: 'story' })} aria-current={session === undefined ? 'page' : undefined}>
                everything
              </a>
            </li>
            {sessions.map((row) => (
              <Session key={row.of.cell} row={row} isHere={row.of.session === session} />
            ))}
          </ul>
        )}
      </Shown>
    </nav>
  );
}

function Session({ row: { of, lifecycle, items }, isHere }: { readonly row: SessionRow; readonly isHere: boolean }) {
  return (
    <li>
      <a href={hrefOf({ screen: 'story', parts: [of.session ?? ''] })} aria-current={isHere ? 'page' : undefined}>
        <i class={`dot ${lifecycle.toLowerCase()}`} />
        <span class="name">{ownerName(of)}</span>
        <span class="quiet num" title={`${safe(lifecycle)}, ${items} items`}>
          {items}
        </span>
      </a>
    </li>
  );
}
