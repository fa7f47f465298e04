/** An answer: its texts, its calls, and what waits for the person in it. */
import { getToolName, isToolUIPart } from 'ai';
import { useState } from 'react';
import { isSuperseded } from 'reprise/ui';
import { inOrder } from './in-order.js';
import { RichText } from './rich-text.jsx';

export function Answer({ message, conversation, onDecided }) {
  const parts = message.parts.filter((part) => !isSuperseded(part) && part.type !== 'step-start');
  const { stop, decisions } = message.metadata?.reprise ?? {};
  const last = parts.at(-1);
  const isQuiet = stop === undefined && (last === undefined || (isToolUIPart(last) && last.state.startsWith('output')));
  return (
    <>
      {parts.map((part, i) => {
        const key = part.toolCallId ?? `${part.type}/${part.id ?? i}`;
        if (part.type === 'text') return <RichText key={key} text={part.text} />;
        if (part.type === 'reasoning') return <Thought key={key} part={part} />;
        if (part.type === 'data-steer') return <Steer key={key} part={part} conversation={conversation} />;
        if (part.type === 'data-question')
          return <Question key={key} part={part} conversation={conversation} onDecided={onDecided} />;
        if (isToolUIPart(part))
          return (
            <Call
              key={key}
              part={part}
              decision={decisions?.[part.approval?.id]}
              conversation={conversation}
              onDecided={onDecided}
            />
          );
        return null;
      })}
      {isQuiet && <Dots />}
      {stop === 'Cancelled' && <p className="note">Stopped.</p>}
      {stop !== undefined && stop !== 'Cancelled' && stop !== 'Completed' && (
        <p className="note problem">This answer failed. You can send your message again.</p>
      )}
    </>
  );
}

export function Dots() {
  return (
    <p className="dots">
      <span className="unseen">The waiter is at work.</span>
      <i aria-hidden="true" />
      <i aria-hidden="true" />
      <i aria-hidden="true" />
    </p>
  );
}

function Thought({ part }) {
  return (
    <details className="thought">
      <summary>{part.state === 'streaming' ? 'Thinking …' : 'Thought'}</summary>
      <RichText text={part.text} />
    </details>
  );
}

const STEERS = { accepted: 'waits to be read', read: 'read', dropped: 'not read: the answer had ended' };

/** Something that the person said while the answer was being written. */
function Steer({ part: { data }, conversation }) {
  return (
    <div className="said meanwhile">
      <p className="bubble">{data.text ?? 'A message to the waiter.'}</p>
      <p className="note">
        {STEERS[data.state]}
        {data.state === 'dropped' && data.text !== undefined && (
          <button type="button" className="plain" onClick={() => conversation.say(data.text)}>
            Send as a message
          </button>
        )}
      </p>
    </div>
  );
}

const STATES = {
  'input-streaming': 'at work',
  'input-available': 'at work',
  'approval-requested': 'waits for you',
  'approval-responded': 'at work',
  'output-available': 'done',
  'output-denied': 'refused',
  'output-error': 'failed',
};

function Call({ part, decision, conversation, onDecided }) {
  const isOpen = part.state === 'approval-requested';
  const name = getToolName(part);
  const label = `call-${part.toolCallId}`;
  const isGivenUp = part.state === 'output-denied' && part.approval?.reason !== undefined;
  const state =
    isGivenUp || part.approval?.approved === false ? (isGivenUp ? 'not needed' : 'refused') : STATES[part.state];
  return (
    <section
      className={isOpen ? 'call waits' : 'call'}
      aria-labelledby={label}
      tabIndex={isOpen ? -1 : undefined}
      data-waits={isOpen || undefined}
    >
      <div className="what">
        <h3 id={label}>{isOpen ? `May I ${name}?` : name}</h3>
        <span className={`state ${part.state}`}>{state}</span>
      </div>
      <Input value={part.input} />
      <Decider decision={decision} />
      {isOpen && (
        <Choices
          label={name}
          decide={async (approve, digest) => conversation.post('decide', { id: part.approval.id, approve, digest })}
          onDecided={onDecided}
        />
      )}
      {part.state === 'output-available' && <Result value={part.output} />}
      {part.state === 'output-error' && <p className="result problem">{inOrder(part.errorText)}</p>}
    </section>
  );
}

/** Who decided: the person at this page, another person, a rule or a program. */
function Decider({ decision }) {
  if (decision === undefined) return null;
  const how = decision.state === 'approved' ? 'approved' : 'refused';
  return <p className="decider">{`${how} by ${decision.by}${reasonWords(decision)}`}</p>;
}

function reasonWords({ reason }) {
  return reason === undefined ? '' : `: ${reason}`;
}

function Choices({ label, decide, onDecided }) {
  const [state, setState] = useState({});
  const choose = async (approve) => {
    setState({ ...state, isSending: true });
    onDecided(approve ? `You agreed to ${label}.` : `You refused ${label}.`);
    const { ok, status, why, said } = await decide(approve, state.digest);
    if (said?.status === 'changed') return setState({ digest: said.digest, differences: said.differences });
    // Decided elsewhere: the conversation shows how.
    if (!ok && status !== 409) setState({ why });
  };
  return (
    <>
      {state.differences !== undefined && <Changed label={label} differences={state.differences} />}
      <div className="choices">
        <button type="button" className="main" disabled={state.isSending} onClick={() => choose(true)}>
          Agree
        </button>
        <button type="button" disabled={state.isSending} onClick={() => choose(false)}>
          Refuse
        </button>
      </div>
      {state.why !== undefined && (
        <p className="note problem" role="alert">
          Not decided. {state.why}
        </p>
      )}
    </>
  );
}

/** Both versions of a tool that has changed since the page asked. The next click decides about the new one. */
function Changed({ label, differences }) {
  return (
    <div className="note problem" role="alert">
      <p>{`${label} has changed since you were asked. Nothing was decided: choose again.`}</p>
      <dl>
        {differences.map(({ what, before = 'not recorded', after }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{`before: ${before}`}</dd>
            <dd>{`now: ${after}`}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A question of the agent itself. */
function Question({ part, conversation, onDecided }) {
  const { question, state } = part.data;
  const [text, setText] = useState('');
  const [why, setWhy] = useState();
  const words = typeof question === 'string' ? question : (question?.question ?? JSON.stringify(question));
  const options = question?.options ?? [];
  const isOpen = state === 'open';
  const answer = async (given) => {
    onDecided('You answered.');
    const reply = await conversation.post('answer', { id: part.id, answer: given });
    if (!reply.ok && reply.status !== 409) setWhy(reply.why);
  };
  return (
    <section
      className={isOpen ? 'call waits' : 'call'}
      aria-label="Question"
      tabIndex={isOpen ? -1 : undefined}
      data-waits={isOpen || undefined}
    >
      <div className="what">
        <h3>{inOrder(words)}</h3>
        <span className="state">{isOpen ? 'waits for you' : state}</span>
      </div>
      {isOpen && options.length > 0 && (
        <div className="choices">
          {options.map(({ id, label }) => (
            <button key={id} type="button" onClick={() => answer(id)}>
              {inOrder(label)}
            </button>
          ))}
        </div>
      )}
      {isOpen && options.length === 0 && (
        <form
          className="choices"
          onSubmit={(event) => {
            event.preventDefault();
            void answer(text);
          }}
        >
          <input value={text} onChange={(event) => setText(event.target.value)} aria-label="Answer" required />
          <button type="submit" className="main">
            Answer
          </button>
        </form>
      )}
      {why !== undefined && (
        <p className="note problem" role="alert">
          Not answered. {why}
        </p>
      )}
    </section>
  );
}

function Input({ value }) {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (fields.length === 0) return null;
  return (
    <dl>
      {fields.map(([name, one]) => (
        <div key={name}>
          <dt>{inOrder(name)}</dt>
          <dd>{inOrder(typeof one === 'string' ? one : JSON.stringify(one))}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ value }) {
  return (
    <div className="result">
      {typeof value === 'string' ? <RichText text={value} /> : inOrder(JSON.stringify(value))}
    </div>
  );
}
