/** Resolves the references of schemas. Works offline: nothing is ever fetched. */
import { raiseExhaustion } from '@reprise/contracts';

/** A reference as an address and what is behind `#`. */
interface Place {
  readonly base: string;
  readonly fragment: string;
}

/** Resolves a reference against the address that it stands at. */
export function resolve(base: string, reference: string): Place {
  const at = reference.indexOf('#');
  const address = at < 0 ? reference : reference.slice(0, at);
  return { base: address === '' ? base : joined(base, address), fragment: at < 0 ? '' : reference.slice(at + 1) };
}

function joined(base: string, address: string): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(address)) return address;
  const [, origin = '', path = ''] = /^([A-Za-z][A-Za-z0-9+.-]*:(?:\/\/[^/?#]*)?)?([^?#]*)/.exec(base) ?? [];
  if (address.startsWith('/')) return `${origin}${withoutDots(address)}`;
  return `${origin}${withoutDots(`${path.slice(0, path.lastIndexOf('/') + 1)}${address}`)}`;
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') kept.pop();
    else if (step !== '.') kept.push(step);
  }
  return kept.join('/');
}

/** The steps of a JSON pointer; undefined when the text is not a pointer. */
export function pointerSteps(fragment: string): readonly string[] | undefined {
  if (fragment === '') return [];
  if (!fragment.startsWith('/')) return undefined;
  try {
    return decodeURIComponent(fragment)
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch (thrown) {
    raiseExhaustion(thrown);
    return undefined;
  }
}
