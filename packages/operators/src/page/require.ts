/** Refuses arguments of the wrong kind, alike in every function of this package: callers may be untyped. */
import { aSignal, aText, type OptionKind, requireFields, requireKnownOptions, wholeFrom } from '@reprise/contracts';
import { requireReadable } from '@reprise/kernel/store';

/** Options of a question about the world after one frame: which frame, and what ends the reading. */
export const AT_OPTIONS = { at: wholeFrom(0), signal: aSignal } as const satisfies Readonly<Record<string, OptionKind>>;

/** Options of a function whose answer comes in pages. */
export const PAGE_OPTIONS = { limit: wholeFrom(1), after: aText } as const satisfies Readonly<
  Record<string, OptionKind>
>;

/**
 * Refuses anything but an open store, and options that the function does not have.
 *
 * @param call the function that is called
 * @throws RepriseError `invalid_argument`
 */
export function requireQuestion(
  call: string,
  store: unknown,
  options: unknown,
  known: Readonly<Record<string, true | OptionKind>>,
): void {
  requireReadable(store, call);
  requireKnownOptions(options, known, call);
}

/** Refuses what are no apps; the world checks each of them. @throws RepriseError `invalid_argument` */
export function requireGivenApps(call: string, apps: unknown): void {
  requireFields(apps, `${call}(apps)`, 'an object with the app of the world, as { app, legacy }');
  const { app } = apps as { readonly app?: unknown };
  requireFields(app, `${call}(apps.app)`, 'the app of the world, from defineApp(…) or agentApp');
}
