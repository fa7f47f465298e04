/** The keys of the page. */

import { Overlay } from './overlay.js';
import { TABS } from './tabs.js';

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'search: words, a frame such as 118, two frames such as 10..20, a cell'],
  ['j k', 'the next row, the row before (arrows too)'],
  ['Enter', 'open the selected row'],
  ['w', 'why: the causes of the selected row'],
  ['p', 'prompt: what the model was sent, for the selected row or the newest call'],
  ['Left Right', 'in a prompt: the step before, the next step; in the cost: by what it is summed'],
  ['[ ]', 'one frame back, one frame on; { } ten frames'],
  ['a b', 'mark A or B at the frame that is shown'],
  ['c', 'compare A and B'],
  ['l', 'go to the newest frame, and follow the world'],
  ['Esc', 'close, or take the selection back'],
];

/** The list of keys. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Overlay label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl class="keys">
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>1</kbd>…<kbd>0</kbd> <kbd>m</kbd>
          </dt>
          <dd>{TABS.map(({ key, name }) => `${key} ${name}`).join(', ')}</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">close</button>
      </form>
    </Overlay>
  );
}
