/** Exactly what a model was sent in one step: each part with its size and origin, and what is new since the step before. */
import type { PromptPart } from '@reprise/operators';
import type { RequestReport, StoryReport } from '../../src/contract/reports.js';
import { Shown } from '../parts/answer.js';
import { Row, useRows } from '../parts/rows.js';
import { Text, Whole } from '../parts/text.js';
import { useKeys } from '../state/keys.js';
import { go, hrefOf, set, useRoute } from '../state/router.js';
import { useReport } from '../state/use-report.js';
import { safe } from '../words/names.js';
import { amount, money, short, size, whole } from '../words/numbers.js';
import { Origin, originOf } from './prompt-origin.js';
import { partText } from './prompt-words.js';
import type { ScreenProps } from './screen.js';

/** One request to a model. The address names it by a place, an effect, or `last`. */
export function Prompt(_props: ScreenProps) {
  const { parts, query } = useRoute();
  const isSent = query.as === 'sent';
  const answer = useReport<RequestReport>('prompt', { call: parts[0] ?? 'last', as: isSent ? 'sent' : null });
  return (
    <Shown of={answer} what="the request">
      {(report) => <Request report={report} isSent={isSent} />}
    </Shown>
  );
}

function Request({ report, isSent }: { readonly report: RequestReport; readonly isSent: boolean }) {
  const ids = report.parts.map((_, i) => `part-${i}`);
  const sel = useRows(ids);
  const as = (what: string | null) => () => set({ as: what });
  useKeys({
    s: as(isSent ? null : 'sent'),
    Enter: () => document.querySelector<HTMLElement>('.row.selected .fold')?.click(),
  });
  const since = report.before?.step == null ? 'the call before' : `step ${report.before.step}`;
  return (
    <div class="single prompt">
      <header class="head">
        <h2>{titleOf(report)}</h2>
        <p class="quiet">{factsOf(report)}</p>
        <Steps report={report} />
        <div class="bar">
          <div class="choice" role="group" aria-label="Form">
            <button type="button" aria-pressed={!isSent} onClick={as(null)}>
              as messages
            </button>
            <button type="button" aria-pressed={isSent} title="key s" onClick={as('sent')}>
              as sent{report.asked === null ? '' : `: ${safe(report.asked.profile)}`}
            </button>
          </div>
          <Digest report={report} />
        </div>
      </header>
      {isSent ? (
        <Sent report={report} />
      ) : (
        <>
          {report.parts.map((part, i) => (
            <Row
              key={ids[i]}
              id={ids[i] ?? ''}
              isSelected={ids[i] === sel}
              isFirst={i === 0}
              class={`part-of ${originOf(part)}`}
            >
              <Part part={part} report={report} since={since} />
            </Row>
          ))}
          <LeftOut report={report} />
        </>
      )}
    </div>
  );
}

function titleOf({ step, session, status }: RequestReport): string {
  const place = step === null ? 'A model call' : `Step ${step.step} of run ${step.run}`;
  const ended = status === 'ok' ? '' : status === 'open' ? ', not answered yet' : `, ended: ${status}`;
  return `${place} of ${safe(session)}${ended}`;
}

function factsOf({ asked, alias, usage, attempts, response_model, first_chunk_ms }: RequestReport): string {
  const whom =
    asked === null
      ? `model ${alias}`
      : [...new Set([asked.provider, asked.profile, asked.model])].filter(Boolean).join(' / ');
  const answered =
    response_model === undefined || response_model === asked?.model ? [] : [`answered by ${response_model}`];
  const used =
    usage?.tokens_in === undefined ? [] : [`${whole(usage.tokens_in)} tokens in, ${whole(usage.tokens_out ?? 0)} out`];
  const price = usage?.micro_money === undefined ? [] : [money(usage.micro_money)];
  const first = first_chunk_ms === undefined ? [] : [`first piece after ${whole(first_chunk_ms)} ms`];
  return [whom, ...answered, ...used, ...price, ...first, ...(attempts > 1 ? [`attempt ${attempts}`] : [])]
    .map(safe)
    .join(' · ');
}

/** How many lines of the story are read for the steps: earlier steps are reached one after another. */
const STEPS_READ = 100;

/** The steps of the session, to go from one to the next. */
function Steps({ report }: { readonly report: RequestReport }) {
  const { data } = useReport<StoryReport>('story', { session: report.session, limit: STEPS_READ });
  const steps = (data?.entries ?? []).filter(({ kind }) => kind === 'answer');
  const at = steps.findIndex(({ effect }) => effect === report.effect);
  const to = (by: number) => () => {
    // The step before is known from the request itself, before all steps are.
    const call = at === -1 ? (by < 0 ? report.before?.effect : undefined) : steps[at + by]?.place;
    if (call !== undefined) go({ screen: 'prompt', parts: [call] });
  };
  useKeys({ ArrowLeft: to(-1), ArrowRight: to(1) });
  return (
    <nav class="steps-of" aria-label="Steps of this session">
      {steps.map(({ place, run, words, effect }, i) => (
        <a
          key={place}
          href={hrefOf({ screen: 'prompt', parts: [place] })}
          aria-current={effect === report.effect ? 'page' : undefined}
          class="num"
        >
          {run !== steps[i - 1]?.run && <span class="quiet">run {run} · </span>}
          {/step (\d+)/.exec(words)?.[1] ?? i}
        </a>
      ))}
    </nav>
  );
}

function Digest({ report: { sent, bytes } }: { readonly report: RequestReport }) {
  const sizes = bytes.sent === null ? '' : `${size(bytes.sent)} as sent · `;
  if (sent.isSame === true) return <span class="good">{sizes}same digest as recorded ✓</span>;
  if (sent.recorded === null)
    return <span class="quiet">as it would be sent: without an answer no digest is recorded</span>;
  return (
    <span class="warn">
      {sizes}not reproducible here: {REASONS[sent.why ?? 'no_writer']}
    </span>
  );
}

const REASONS: Readonly<Record<NonNullable<RequestReport['sent']['why']>, string>> = {
  no_answer: 'there is no answer',
  no_writer: 'no built-in writer makes the same bytes',
  erased: 'content was erased',
  unknown_prompt: 'a newer release recorded it',
};

function Sent({ report: { sent } }: { readonly report: RequestReport }) {
  if (sent.body === undefined) return <p class="empty">The bytes that were sent cannot be made again here.</p>;
  return <Whole text={sent.body} code />;
}

function Part({
  part,
  report,
  since,
}: {
  readonly part: PromptPart;
  readonly report: RequestReport;
  readonly since: string;
}) {
  const tools = part.part === 'tools' && Array.isArray(part.value) ? part.value : null;
  return (
    <>
      <div class="margin">
        <span class="tag">{part.part === 'message' ? part.role : part.part}</span>
        <span class="quiet num">{tools === null ? size(part.bytes) : `${tools.length} · ${size(part.bytes)}`}</span>
        {part.isNew && <span class="new">new since {since}</span>}
        {tools !== null && <ToolsDiff report={report} since={since} />}
      </div>
      <div class="said">
        <Text text={partText(part)} code={tools !== null || part.role === 'tool'} />
      </div>
      <p class="origin quiet">
        {part.origins.map((origin, i) => (
          <Origin key={i} origin={origin} />
        ))}
      </p>
    </>
  );
}

function ToolsDiff({ report: { tools }, since }: { readonly report: RequestReport; readonly since: string }) {
  if (tools === null) return null;
  const changes = [
    ...tools.added.map((name) => `+${name}`),
    ...tools.removed.map((name) => `−${name}`),
    ...tools.changed.map((name) => `~${name}`),
  ];
  if (changes.length === 0) return <span class="quiet">as in {since}</span>;
  return <span class="new">{changes.map(safe).join(' ')}</span>;
}

function LeftOut({ report: { left_out: out, before, bytes } }: { readonly report: RequestReport }) {
  const dropped = out.dropped === 0 ? '' : `, ${amount(out.dropped, 'file')} taken out`;
  return (
    <p class="left-out quiet">
      <strong>left out</strong> {amount(out.items, 'item')}
      {out.is_summarised ? ', of which a summary stands above' : ''}
      {dropped}
      {out.warnings.length > 0 && ` · sent otherwise: ${out.warnings.map(safe).join(', ')}`}
      {out.context_unknown === true && ' · texts of context sources are not recorded: the call has no answer'} · all
      parts {short(bytes.parts)}B{before === null ? ' · no step before in this session' : ''}
    </p>
  );
}
