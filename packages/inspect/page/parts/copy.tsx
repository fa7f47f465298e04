/** A command to copy: the page never acts for a person, it says how to. */
import { useState } from 'preact/hooks';
import { plain } from '../words/names.js';

interface CommandProps {
  readonly line: string;
  readonly where?: string;
  /** Whether ids are shown by their beginning. All of the line is copied. */
  readonly short?: boolean;
}

/** A line with a button that copies it. */
export function Command({ line, where = 'shell', short = false }: CommandProps) {
  const [said, say] = useState('copy');
  const copy = () => {
    navigator.clipboard.writeText(line).then(
      () => say('copied'),
      () => say('select it, and copy it by hand'),
    );
    setTimeout(() => say('copy'), 2_000);
  };
  return (
    <div class={short ? 'command short' : 'command'}>
      {short && <span class="where quiet">{where}</span>}
      <code title={where === 'program' ? 'for the program that has the world open' : 'for a shell'}>
        {short ? plain(line) : line}
      </code>
      <button type="button" onClick={copy}>
        <span role="status">{said}</span>
      </button>
    </div>
  );
}
