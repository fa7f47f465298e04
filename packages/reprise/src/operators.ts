/** Answers to the questions of an operator, read from the file of a world without its lock: what the verbs of `reprise` print. */
export {
  type Change,
  changesOf,
  type PartOrigin,
  type PromptPart,
  type RequestOfOptions,
  type RequestReport,
  requestOf,
  type SentRequest,
  type ToolsDiff,
} from '@reprise/operators';
