/** Where the parts of a request come from. */
import type { PartOrigin, PromptPart } from '@reprise/operators';
import { FrameLink } from '../parts/when.js';
import { actorName, safe } from '../words/names.js';

/** Where a part comes from, as a class: what was said, answered, returned, configured. */
export function originOf({ origins, part }: PromptPart): string {
  return part === 'message' ? `from-${origins[0]?.kind ?? 'runtime'}` : 'from-configuration';
}

/** Where a part comes from, in words, with its frame. */
export function Origin({ origin }: { readonly origin: PartOrigin }) {
  const { frame } = origin;
  return (
    <span>
      {originWords(origin)} {frame === undefined ? '' : <FrameLink frame={frame} />}
    </span>
  );
}

function originWords({ kind, as, from, tool, lane, name }: PartOrigin): string {
  switch (kind) {
    case 'message':
      return `said${from === undefined ? '' : ` by ${actorName(from)}`}${as === undefined || as === 'input' ? '' : ` (${as})`}`;
    case 'answer':
      return 'the model';
    case 'result':
      return `${safe(tool ?? 'a tool')} returned`;
    case 'late':
      return `${safe(tool ?? 'a tool')} returned, late`;
    case 'configuration':
      return 'set in';
    case 'context':
      return safe(`${lane} ${name}`);
    case 'summary':
      return 'summary of what stands before';
    case 'request':
      return 'request for a summary';
    default:
      return 'a notice of the program';
  }
}
