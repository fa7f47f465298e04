/**
 * Which of two versions of a message is shown: the journal's, or the one of the run's stream, which has the words between.
 * Each of them arrives on its own, so either may be behind. What was shown once is not taken back: a question that one of
 * them has and the other does not have yet would lose its button, and be announced twice.
 */

/** The states of a call, in their order. */
const STATES = {
  'input-streaming': 0,
  'input-available': 1,
  'approval-requested': 2,
  'approval-responded': 3,
  'output-available': 4,
  'output-denied': 4,
  'output-error': 4,
};

/** @param isReading whether the stream is being read, or the connection is lost */
export function current(message, live, isReading) {
  if (live === undefined || isAhead(message, live)) return message;
  return isReading || isAhead(live, message) ? live : message;
}

/** Whether a version has more parts than another, or a part in a later state. */
function isAhead({ parts }, other) {
  return (
    parts.length > other.parts.length ||
    parts.some((part, i) => i < other.parts.length && stateOf(part) > stateOf(other.parts[i]))
  );
}

function stateOf({ state, data }) {
  if (data?.state !== undefined) return data.state === 'open' ? 0 : 1;
  return STATES[state] ?? 0;
}
