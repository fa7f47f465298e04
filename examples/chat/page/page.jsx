/** The page: a conversation, what waits for the guest, and a place to type. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, generateId, getToolName, isToolUIPart } from 'ai';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { isSuperseded } from 'reprise/ui';

const chat = location.hash.slice(1) || generateId();
history.replaceState(null, '', `#${chat}`);

const post = (what, body = {}) =>
  fetch(`/api/chat/${chat}/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const transport = new DefaultChatTransport({
  api: '/api/chat',
  // The world has the conversation: only what is new is sent.
  prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, messages: messages.slice(-1) } }),
});

/** What was said meanwhile; of that the journal's events tell the id alone. */
const remembered = () => JSON.parse(sessionStorage.getItem(chat) ?? '{}');

function Page({ before }) {
  const { messages, sendMessage, status, error } = useChat({ id: chat, messages: before, transport, resume: true });
  const [text, setText] = useState('');
  const [steers, setSteers] = useState(remembered);
  const isWorking = status === 'submitted' || status === 'streaming';
  useEffect(() => {
    if (messages.length > 0) window.scrollTo(0, document.body.scrollHeight);
  }, [messages]);

  async function say(event) {
    event.preventDefault();
    const said = text.trim();
    if (said === '') return;
    setText('');
    if (!isWorking) return sendMessage({ text: said });
    const id = generateId();
    const known = { ...steers, [id]: said };
    setSteers(known);
    sessionStorage.setItem(chat, JSON.stringify(known));
    await post('steer', { id, text: said });
  }

  return (
    <main>
      <header>
        <h1>A table for two</h1>
        <a href="/">New conversation</a>
      </header>
      <ol>
        {messages.map((message) => (
          <li key={message.id} className={message.role}>
            {message.role === 'user' ? <p>{textOf(message)}</p> : <Answer message={message} steers={steers} />}
          </li>
        ))}
        {messages.length === 0 && <li className="note">Say for how many and when: “A table for 4 at 20:00”.</li>}
        {error && <li className="note">{error.message}</li>}
      </ol>
      <form onSubmit={say}>
        <input
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder={isWorking ? 'Say something while it works …' : 'Say something …'}
          aria-label="Message"
          // biome-ignore lint/a11y/noAutofocus: there is nothing else to do on this page
          autoFocus
        />
        {isWorking && (
          <button type="button" onClick={() => post('stop')}>
            Stop
          </button>
        )}
        <button type="submit" className="main">
          {isWorking ? 'Tell it' : 'Send'}
        </button>
      </form>
    </main>
  );
}

function Answer({ message, steers }) {
  const parts = message.parts.filter((part) => !isSuperseded(part));
  return (
    <div>
      {parts.map((part, i) => {
        const key = part.toolCallId ?? part.id ?? i;
        if (part.type === 'text') return <p key={key}>{part.text}</p>;
        if (part.type === 'data-steer') return <Meanwhile key={key} part={part} text={steers[part.id]} />;
        if (isToolUIPart(part)) return <Call key={key} part={part} />;
        return null;
      })}
      {message.metadata?.reprise?.stop === 'Cancelled' && <p className="note">Stopped.</p>}
    </div>
  );
}

function Meanwhile({ part, text = 'You said something meanwhile.' }) {
  return (
    <p className="meanwhile">
      {text} {part.data.state === 'read' ? '✓ read' : '…'}
    </p>
  );
}

const STATES = {
  'input-available': 'working …',
  'approval-requested': 'waits for you',
  'output-available': 'done',
  'output-denied': 'refused',
  'output-error': 'failed',
};

function Call({ part }) {
  const [isDecided, setDecided] = useState(false);
  const isOpen = part.state === 'approval-requested' && !isDecided;
  const decide = async (approve) => {
    setDecided(true);
    await post('decide', { id: part.approval.id, approve });
  };
  return (
    <div className={isOpen ? 'call waits' : 'call'}>
      <div className="what">
        <strong>{getToolName(part)}</strong>
        <code>{inputText(part.input)}</code>
        <span className="state">
          {isDecided && part.state === 'approval-requested' ? 'working …' : STATES[part.state]}
        </span>
      </div>
      {isOpen && (
        <div className="choices">
          <button type="button" className="main" onClick={() => decide(true)}>
            Agree
          </button>
          <button type="button" onClick={() => decide(false)}>
            Refuse
          </button>
        </div>
      )}
      {part.state === 'output-available' && <p className="result">{String(part.output)}</p>}
      {part.state === 'output-error' && <p className="result">{part.errorText}</p>}
    </div>
  );
}

const inputText = (input) =>
  Object.entries(input ?? {})
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' · ');

const textOf = ({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

const before = await fetch(`/api/chat/${chat}`).then((response) => response.json());
createRoot(document.getElementById('root')).render(<Page before={before} />);
