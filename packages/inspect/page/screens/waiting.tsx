/** What waits for people: since when, who may answer, and the line that answers it. */
import type { WaitingItem } from '@reprise/operators';
import type { WaitingReport } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Command } from '../parts/copy.js';
import { Detail, Fact, Part } from '../parts/facts.js';
import { Row, useRows } from '../parts/rows.js';
import { Text } from '../parts/text.js';
import { Ago, Clock, FrameLink } from '../parts/when.js';
import { hrefOf, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { ownerName, safe } from '../words/names.js';
import { moment, span } from '../words/time.js';
import type { ScreenProps } from './screen.js';

const KINDS: Readonly<Record<WaitingItem['kind'], string>> = {
  approval: 'approve',
  question: 'answer',
  outside: 'outside',
  input: 'say more',
  limit: 'limit',
  pause: 'paused',
  decision: 'decide',
  review: 'review',
};

/** One thing that waits, in a line, with the line that answers it below. */
export function WaitingLine({ item, than }: { readonly item: WaitingItem; readonly than: number | null }) {
  return (
    <>
      <div class="cols">
        <span class="tag waits">{KINDS[item.kind]}</span>
        <span class="what">{safe(item.what)}</span>
        <span class="who">{ownerName(item.of)}</span>
        <span class="age num">{item.since === null ? '' : <Ago ms={item.since} than={than} />}</span>
      </div>
      <Command line={item.answer.line} where={item.answer.in} short />
    </>
  );
}

/** The list of what waits. */
export function Waiting(_props: ScreenProps) {
  const answer = useReportAt<WaitingReport>('waiting');
  return (
    <Shown of={answer} what="what waits">
      {(report) => <List report={report} />}
    </Shown>
  );
}

function List({ report }: { readonly report: WaitingReport }) {
  const sel = useRows(report.waiting.map(({ id }) => id));
  const isPast = useRoute().query.at !== undefined;
  const item = report.waiting.find(({ id }) => id === sel);
  const than = isPast ? report.at : null;
  return (
    <div class={item === undefined ? 'single' : 'split'}>
      <Part title={isPast ? 'It waited for people' : 'It waits for people'} count={report.waiting.length}>
        {report.waiting.length === 0 && <Empty>Nothing waits for a person{isPast ? ' at this frame' : ''}.</Empty>}
        {report.waiting.map((one, i) => (
          <Row key={one.id} id={one.id} isSelected={one.id === sel} isFirst={i === 0} class="waiting">
            <WaitingLine item={one} than={than} />
          </Row>
        ))}
        {report.next !== null && <p class="quiet">There are more: reprise waiting lists all.</p>}
      </Part>
      {item !== undefined && <ItemDetail item={item} than={than} />}
    </div>
  );
}

function ItemDetail({ item, than }: { readonly item: WaitingItem; readonly than: number | null }) {
  return (
    <Detail title="What waits">
      <dl>
        <Fact name="what">
          <Text text={item.what} open />
          {item.options.length > 0 && <p class="quiet">answers: {item.options.map(safe).join(' · ')}</p>}
        </Fact>
        <Fact name="who">
          <a
            href={hrefOf({
              screen: 'story',
              parts: item.of.session === null ? [] : [item.of.session],
              query: { sel: null },
            })}
          >
            {ownerName(item.of)}
          </a>
        </Fact>
        <Fact name="when">
          {item.since !== null && (
            <>
              <Clock ms={item.since} /> · <Ago ms={item.since} than={than} />
            </>
          )}
          {item.frame !== null && (
            <>
              {' · '}
              <FrameLink frame={item.frame} />
            </>
          )}
          {item.since === null && 'before the newest snapshot'}
          {item.until !== null && (
            <p>
              stops waiting at {moment(item.until)}, after {span(item.until - (item.since ?? item.until))}
            </p>
          )}
        </Fact>
        <Fact name="may answer">
          {item.to === null
            ? 'everybody who may act'
            : `${item.to === 'human:*' ? 'every person' : safe(item.to.replace('human:', ''))}, and the operator`}
        </Fact>
        <Fact
          name={item.answer.in === 'shell' ? 'to answer, in a shell' : 'to answer, in the program that has it open'}
        >
          <Command line={item.answer.line} where={item.answer.in} />
          <p class="quiet">
            {item.answer.in === 'program'
              ? 'Start the program of this world if none runs; NAME is the name of the person who answers, and { approve: false } refuses.'
              : 'VALUE is the answer.'}
          </p>
        </Fact>
      </dl>
    </Detail>
  );
}
