/** The place to type. What is typed belongs to its tab, and survives a reload of it. */
import { useEffect, useLayoutEffect, useState } from 'react';

export function Composer({ conversation, isWorking, field, onSay }) {
  const draft = `chat:${conversation.id}:draft`;
  const [text, setText] = useState(() => sessionStorage.getItem(draft) ?? '');
  const [problem, setProblem] = useState();
  const [isStopping, setStopping] = useState(false);
  useEffect(() => {
    if (text === '') sessionStorage.removeItem(draft);
    else sessionStorage.setItem(draft, text);
  }, [draft, text]);
  useEffect(() => {
    if (!isWorking) setStopping(false);
  }, [isWorking]);
  // The field is as high as its text.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    field.current.style.height = 'auto';
    field.current.style.height = `${field.current.scrollHeight + 2}px`;
  }, [text]);

  const say = (kind) => {
    const said = text.trim();
    if (said === '') return;
    setText('');
    onSay();
    conversation.say(said, kind);
    field.current.focus();
  };
  const stop = async () => {
    setStopping(true);
    const { ok, status, why } = await conversation.post('stop');
    if (ok || status === 409) return setProblem(undefined);
    setStopping(false);
    setProblem(`Not stopped. ${why}`);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        say(isWorking ? 'steer' : 'message');
      }}
    >
      {problem !== undefined && (
        <p className="note problem" role="alert">
          {problem}
        </p>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (!event.repeat) say(isWorking ? 'steer' : 'message');
        }}
        placeholder={isWorking ? 'Say something while it works' : 'Say for how many and when'}
        aria-label="Message"
        aria-describedby="keys"
        maxLength={100_000}
        // biome-ignore lint/a11y/noAutofocus: there is nothing else to do on this page
        autoFocus
      />
      <div className="actions">
        <span id="keys" className="note">
          Enter sends, Shift+Enter begins a line
        </span>
        {isWorking && (
          <button type="button" onClick={stop} disabled={isStopping}>
            {isStopping ? 'Stopping …' : 'Stop'}
          </button>
        )}
        {isWorking && (
          <button type="button" onClick={() => say('message')} disabled={text.trim() === ''}>
            After this
          </button>
        )}
        <button type="submit" className="main" disabled={text.trim() === ''}>
          {isWorking ? 'Tell it now' : 'Send'}
        </button>
      </div>
    </form>
  );
}
