/** The first screen: what waits for people, who is at work, what was said last, what went wrong. */
import type { WaitingItem } from '@reprise/operators';
import type { LastWords, NowReport, TroubleRow } from '../../src/contract/reports.js';
import { Empty, Shown } from '../parts/answer.js';
import { Part } from '../parts/facts.js';
import { Row, useRows } from '../parts/rows.js';
import { Text } from '../parts/text.js';
import { Ago, Clock } from '../parts/when.js';
import { useKeys } from '../state/keys.js';
import { go, here, hrefOf, useRoute } from '../state/router.js';
import { useReportAt } from '../state/use-report.js';
import { ownerName, safe } from '../words/names.js';
import type { ScreenProps } from './screen.js';
import { spoken } from './story/words.js';
import { TroubleLine } from './trouble.js';
import { WaitingLine } from './waiting.js';

/** The first screen. */
export function Now(_props: ScreenProps) {
  const answer = useReportAt<NowReport>('now');
  return (
    <Shown of={answer} what="what is going on">
      {(now) => <Parts now={now} />}
    </Shown>
  );
}

function Parts({ now }: { readonly now: NowReport }) {
  const isPast = useRoute().query.at !== undefined;
  const targets = targetsOf(now);
  const sel = useRows(targets.map(({ id }) => id));
  const open = (wanted: string) => () => {
    const target = targets.find(({ id }) => id === wanted);
    if (target !== undefined) go(target.href);
  };
  useKeys({
    Enter: () => {
      const { sel: wanted } = here().query;
      if (wanted === undefined || !targets.some(({ id }) => id === wanted)) return false;
      open(wanted)();
    },
  });
  const first = targets[0]?.id;
  const row = (id: string) => ({ id, isSelected: sel === id, isFirst: first === id });
  const than = isPast ? now.at : null;
  return (
    <div class="now">
      <Part title={isPast ? 'It waited for people' : 'It waits for people'} count={now.waiting_total}>
        {now.waiting.length === 0 && <Empty>Nothing waits for a person.</Empty>}
        {now.waiting.map((item) => (
          <Row key={item.id} {...row(waitId(item))} onOpen={open(waitId(item))} class="waiting">
            <WaitingLine item={item} than={than} />
          </Row>
        ))}
        {now.waiting.length < now.waiting_total && <a href={hrefOf({ screen: 'waiting' })}>all {now.waiting_total}</a>}
      </Part>
      <Part title="At work" count={now.unfinished.length}>
        {now.unfinished.length === 0 && <Empty>No session has a run that is under way.</Empty>}
        {now.unfinished.map(({ of, since, doing }) => (
          <Row key={of.cell} {...row(`work-${of.cell}`)} onOpen={open(`work-${of.cell}`)} class="work">
            <div class="cols">
              <a class="who" href={hrefOf({ screen: 'story', parts: of.session === null ? [] : [of.session] })}>
                {ownerName(of)}
              </a>
              <span class="what">
                {doing.length === 0
                  ? 'goes on when its program runs'
                  : doing
                      .map(({ what, attempt }) => `${safe(what)}${attempt > 1 ? ` (attempt ${attempt})` : ''}`)
                      .join(' · ')}
              </span>
              <span class="age num">{since !== null && <Ago ms={since} than={than} />}</span>
            </div>
          </Row>
        ))}
      </Part>
      <Part title="Last words" count={now.last_words.length}>
        {now.last_words.length === 0 && (
          <Empty>No words of a model stand in the last frames: the story has what was said before.</Empty>
        )}
        {now.last_words.map((said) => (
          <Row key={said.place} {...row(`said-${said.place}`)} onOpen={open(`said-${said.place}`)} class="said">
            <Said said={said} />
          </Row>
        ))}
      </Part>
      <Part title="Trouble" count={now.trouble_total}>
        {now.trouble.length === 0 && <Empty>Nothing failed, and nothing may have run twice.</Empty>}
        {now.trouble.map((one, i) => (
          <Row key={i} {...row(troubleId(one, i))} onOpen={open(troubleId(one, i))} class="trouble">
            <TroubleLine row={one} />
          </Row>
        ))}
      </Part>
    </div>
  );
}

function Said({ said: { of, words, at } }: { readonly said: LastWords }) {
  return (
    <>
      <div class="cols">
        <a class="who" href={hrefOf({ screen: 'story', parts: of.session === null ? [] : [of.session] })}>
          {ownerName(of)}
        </a>
        <span class="age">
          <Clock ms={at} />
        </span>
      </div>
      <Text text={spoken(words).text ?? safe(words)} />
    </>
  );
}

interface Target {
  readonly id: string;
  readonly href: string;
}

const waitId = (item: WaitingItem) => `wait-${item.id}`;
const troubleId = ({ place }: TroubleRow, i: number) => `trouble-${place?.frame ?? ''}-${i}`;

/** What Enter opens for each row of the screen. */
function targetsOf(now: NowReport): readonly Target[] {
  const story = (session: string | null, sel?: string) =>
    hrefOf({ screen: 'story', parts: session === null ? [] : [session], query: sel === undefined ? {} : { sel } });
  return [
    ...now.waiting.map((item) => ({ id: waitId(item), href: hrefOf({ screen: 'waiting', query: { sel: item.id } }) })),
    ...now.unfinished.map(({ of }) => ({ id: `work-${of.cell}`, href: story(of.session) })),
    ...now.last_words.map(({ of, place }) => ({ id: `said-${place}`, href: story(of.session, place) })),
    ...now.trouble.map((one, i) => ({
      id: troubleId(one, i),
      href: one.place === null ? hrefOf({ screen: 'trouble' }) : hrefOf({ screen: 'f', parts: [one.place.frame] }),
    })),
  ];
}
