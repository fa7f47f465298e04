/** An answer of the server in a screen: what is read, what failed and what to do, in words. */
import type { ComponentChildren } from 'preact';
import type { ReportFailure } from '../state/api.js';
import { useRoute } from '../state/router.js';
import type { Answer } from '../state/use-report.js';
import { safe } from '../words/names.js';

/** What to say while there is nothing to show. */
interface AnswerProps<T> {
  readonly of: Answer<T>;
  /** What is read, for example `the sessions`. */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows an answer, or in words that it is read or why it is not there. */
export function Shown<T>({ of: { data, failure, isLoading }, what, children }: AnswerProps<T>) {
  const { at } = useRoute().query;
  if (failure !== undefined && at !== undefined && isNotMadeYet(failure))
    return <Empty>It did not exist yet at frame {at}.</Empty>;
  if (failure !== undefined) return <Failed failure={failure} what={what} />;
  if (data === undefined) return <p class="quiet pad">Reading {what} …</p>;
  return (
    <div aria-busy={isLoading ? 'true' : 'false'} class="answer">
      {children(data)}
    </div>
  );
}

/** Whether the question names a part of the world that was made later. */
function isNotMadeYet({ report: { code, where } }: ReportFailure): boolean {
  return code === 'invalid_argument' && (where === 'project' || where === 'name' || where === 'item');
}

/** An error: what happened, where, what was expected, what was found, what to do. */
export function Failed({ failure, what }: { readonly failure: ReportFailure; readonly what: string }) {
  const { code, message, where, expected, actual, hint } = failure.report;
  return (
    <div class="failed" role="alert">
      <p>
        <strong>
          {capital(what)} cannot be shown: {safe(message)}
        </strong>{' '}
        <span class="quiet">{code}</span>
      </p>
      <Line name="where" text={where} />
      <Line name="expected" text={expected} />
      <Line name="found" text={actual} />
      <Line name="to do" text={hint} />
    </div>
  );
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function Line({ name, text }: { readonly name: string; readonly text: unknown }) {
  if (text === undefined) return null;
  return (
    <p>
      <span class="quiet">{name}</span> {safe(typeof text === 'string' ? text : JSON.stringify(text))}
    </p>
  );
}

/** What a screen says when there is nothing of its kind. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
