/** A report of the server as part of a screen: while another one is read, the one before stays in sight. */
import { useEffect, useState } from 'preact/hooks';
import { answerOf, keptAnswer, type Parameters, ReportFailure, urlOf } from './api.js';
import { useLive } from './live.js';
import { useRoute } from './router.js';

/** What is known of an answer. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly failure: ReportFailure | undefined;
  /** Whether `data` is of another question, or has not come yet. */
  readonly isLoading: boolean;
}

interface Known {
  readonly key: string;
  readonly base: string;
  readonly data?: unknown;
  readonly failure?: ReportFailure | undefined;
}

/** Asks for a report. @param path of the question below `/api/`; null asks nothing */
export function useReport<T>(path: string | null, parameters: Parameters = {}): Answer<T> {
  const { frame } = useLive();
  const url = path === null ? null : urlOf(path, parameters);
  const isOfPast = typeof parameters.at === 'string' || typeof parameters.at === 'number';
  const key = url === null ? '' : isOfPast ? url : `${url} @${frame}`;
  const [known, setKnown] = useState<Known>({ key: '', base: '' });

  useEffect(() => {
    if (url === null || path === null || known.key === key || keptAnswer(key) !== undefined) return;
    const stop = new AbortController();
    answerOf(url, key, stop.signal)
      .then((data) => setKnown({ key, base: path, data }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        const failure =
          error instanceof ReportFailure ? error : new ReportFailure(0, { code: 'page', message: String(error) });
        setKnown({ key, base: path, failure });
      });
    return () => stop.abort();
  }, [key]);

  const ready = keptAnswer(key);
  useEffect(() => {
    if (ready !== undefined && path !== null && known.key !== key) setKnown({ key, base: path, data: ready });
  }, [key, ready]);
  if (path === null) return { data: undefined, failure: undefined, isLoading: false };
  if (ready !== undefined) return { data: ready as T, failure: undefined, isLoading: false };
  const isSame = known.base === path;
  return {
    data: isSame ? (known.data as T | undefined) : undefined,
    failure: known.key === key ? known.failure : undefined,
    isLoading: known.key !== key,
  };
}

/** As `useReport`, as of the frame that the slider shows. */
export function useReportAt<T>(path: string | null, parameters: Parameters = {}): Answer<T> {
  const { at } = useRoute().query;
  return useReport<T>(path, { ...parameters, at });
}
