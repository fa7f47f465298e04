/** The page: a conversation, what waits for the guest, and a place to type. */
import { useChat } from '@ai-sdk/react';
import { generateId, getToolName, isToolUIPart } from 'ai';
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Answer, Dots } from './answer.jsx';
import { Composer } from './composer.jsx';
import { Conversation, isUnderWay } from './conversation.js';
import { current } from './current.js';
import { RichText } from './rich-text.jsx';

const chatId = location.hash.slice(1) || generateId();
history.replaceState(null, '', `#${chatId}`);
addEventListener('hashchange', () => location.reload());

const WISHES = ['A table for 4 at 20:00', 'What is on the menu?', 'Tell me a story'];
/** How near the end counts as the end. */
const END_PX = 80;
/** An input is taken up within this time, or something is in its way. */
const TAKEN_UP_MS = 1_500;

function Page({ conversation }) {
  const { messages, outbox, connection, caughtUp } = useSyncExternalStore(
    conversation.subscribe,
    () => conversation.now,
  );
  const live = useChat({ chat: conversation.chat, experimental_throttle: 40 });
  const field = useRef(null);
  const shown = messages.map((message) => shownOf(message, live, connection));
  const isWorking = messages.some(isUnderWay);
  const waiting = shown.flatMap(({ parts }) => parts.filter(isWaiting));
  const scroll = useScroll(shown, outbox);
  const [news, setNews] = useNews({ shown, waiting, connection, outbox, caughtUp });

  const focusWaiting = () => {
    const card = document.querySelector('[data-waits]');
    card?.scrollIntoView({ block: 'center' });
    card?.focus();
  };
  /** A decision removes the pressed button: the focus goes on, and does not get lost. */
  const onDecided = (said) => {
    setNews(said);
    field.current?.focus();
  };
  useLostFocus(field, waiting.length);
  const queued = new Set(messages.filter((one, i) => one.role === 'user' && messages[i + 1]?.role !== 'assistant'));

  return (
    <>
      <header>
        <h1>A table for two</h1>
        {connection === 'lost' && <span className="chip">Connecting again …</span>}
        <a href="/">New conversation</a>
      </header>
      <main>
        <h2 className="unseen">Conversation</h2>
        <ol aria-busy={!caughtUp}>
          {shown.map((message, i) => (
            <li key={`${message.role}/${message.id}`} className={message.role}>
              {message.role === 'user' ? (
                <Said text={textOf(message)}>
                  {queued.has(messages[i]) && <Queued conversation={conversation} isWorking={isWorking} />}
                </Said>
              ) : (
                <article aria-label="The waiter">
                  <Answer message={message} conversation={conversation} onDecided={onDecided} />
                </article>
              )}
            </li>
          ))}
          {outbox.map((entry) => (
            <li key={entry.id} className="user">
              <Said text={entry.text}>
                <Sending entry={entry} conversation={conversation} />
              </Said>
            </li>
          ))}
        </ol>
        {caughtUp && shown.length === 0 && outbox.length === 0 && <Empty conversation={conversation} />}
        {!caughtUp && shown.length === 0 && <Dots />}
      </main>
      <footer>
        {(waiting.length > 0 || !scroll.isAtEnd) && (
          <div className="above">
            {waiting.length > 0 && (
              <button type="button" className="jump" onClick={focusWaiting}>
                {waiting.length === 1 ? 'A question waits for you' : `${waiting.length} questions wait for you`}
              </button>
            )}
            {!scroll.isAtEnd && (
              <button type="button" className="jump" onClick={scroll.toEnd}>
                To the end
              </button>
            )}
          </div>
        )}
        <Composer conversation={conversation} isWorking={isWorking} field={field} onSay={scroll.toEnd} />
      </footer>
      <div className="unseen" role="status" aria-live="polite">
        {news}
      </div>
    </>
  );
}

/** A message as the journal has it; while it is being written, as the run's stream has it. */
function shownOf(message, { messages, status }, connection) {
  if (!isUnderWay(message)) return message;
  const live = messages.findLast(({ id, role }) => id === message.id && role === message.role);
  return current(message, live, status === 'streaming' || connection === 'lost');
}

function isWaiting(part) {
  return isToolUIPart(part) ? part.state === 'approval-requested' : part.data?.state === 'open';
}

function Said({ text, children }) {
  return (
    <div className="said">
      <span className="unseen">You:</span>
      <div className="bubble">
        <RichText text={text} />
      </div>
      {children}
    </div>
  );
}

/** An input that waits for its turn. Behind an answer that was stopped or failed, it waits for the person. */
function Queued({ conversation, isWorking }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), TAKEN_UP_MS);
    return () => clearTimeout(timer);
  }, []);
  if (isWorking) return <p className="note">waits for its turn</p>;
  if (!isLate) return null;
  return (
    <p className="note">
      waits behind the stopped answer
      <button type="button" className="plain" onClick={() => conversation.post('resume')}>
        Go on
      </button>
    </p>
  );
}

function Sending({ entry, conversation }) {
  if (entry.state === 'sending') return <p className="note">sending …</p>;
  const isAway = entry.state === 'away';
  return (
    <p className="note problem">
      {isAway ? 'Not sent yet: it is sent when the server is back.' : `Not sent. ${entry.why}`}
      {!isAway && (
        <button type="button" className="plain" onClick={() => conversation.send(entry)}>
          Send again
        </button>
      )}
      <button type="button" className="plain" onClick={() => conversation.discard(entry.id)}>
        Discard
      </button>
    </p>
  );
}

function Empty({ conversation }) {
  return (
    <div className="empty">
      <h2>What may it be?</h2>
      <p>Say for how many and when. Nothing is booked before you agree.</p>
      <div className="wishes">
        {WISHES.map((wish) => (
          <button key={wish} type="button" onClick={() => conversation.say(wish)}>
            {wish}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Stays at the end while the conversation grows, unless the person reads above. */
function useScroll(shown, outbox) {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  useEffect(() => {
    const look = () => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
      follows.current = scrollHeight - clientHeight - scrollTop < END_PX;
      setAtEnd(follows.current);
    };
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, []);
  const toEnd = () => {
    follows.current = true;
    scrollTo(0, document.documentElement.scrollHeight);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each of them makes the page higher
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [shown, outbox]);
  return { isAtEnd, toEnd };
}

/** When a button disappears under the focus, because it was decided elsewhere, the focus goes to the field. */
function useLostFocus(field, count) {
  const before = useRef(count);
  useEffect(() => {
    if (count < before.current && document.activeElement === document.body) field.current?.focus();
    before.current = count;
  }, [field, count]);
}

/** What a screen reader says: what changed, once it is whole; words that are still being written come with the rest. */
function useNews({ shown, waiting, connection, outbox, caughtUp }) {
  const [news, setNews] = useState('');
  const now = {
    isLost: connection === 'lost',
    unsent: outbox.filter(({ state }) => state !== 'sending').length,
    waiting: waiting.map((part) => part.approval?.id ?? part.id),
    working: new Set(shown.filter(isUnderWay).map(({ id }) => id)),
  };
  const before = useRef(now);
  useEffect(() => {
    const was = before.current;
    before.current = now;
    // What was there when the page was loaded is read like any page.
    if (!caughtUp) return;
    const asked = waiting.filter((_, i) => !was.waiting.includes(now.waiting[i]));
    const answers = shown.filter(({ id }) => was.working.has(id) && !now.working.has(id));
    const said = [
      now.isLost && !was.isLost && 'The connection is lost. Connecting again.',
      !now.isLost && was.isLost && 'Connected again.',
      now.unsent > was.unsent && 'A message is not sent.',
      ...answers.map(textOf),
      asked.length > 0 && `${nameOf(asked)} waits for you. Press Shift and Tab, then Enter, to go there.`,
    ].filter(Boolean);
    if (said.length > 0) setNews(said.join(' '));
  });
  return [news, setNews];
}

function nameOf(waiting) {
  return waiting.map((part) => (isToolUIPart(part) ? `May I ${getToolName(part)}?` : 'A question')).join(' ');
}

function textOf({ parts }) {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

createRoot(document.getElementById('root')).render(<Page conversation={new Conversation(chatId)} />);
