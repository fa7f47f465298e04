/** Chat pages: runs as UI message streams for the AI SDK's `useChat`, and the requests of a page. */
export { type ApprovalResponse, approvalResponse } from './approvals.js';
export {
  type ApprovalData,
  type ChildData,
  isSuperseded,
  type QuestionData,
  type RunMetadata,
  type SteerData,
  type UiChunk,
} from './chunk.js';
export type { ToolFailure } from './failed-text.js';
export { type FollowedMessage, type FollowOptions, followUiMessages, uiMessages } from './history.js';
export type { UiMessage, UiPart } from './message.js';
export { answerChatInput, type ChatInput, readChatInput } from './request.js';
export { afterOf, UI_STREAM_HEADERS, uiFollowResponse, uiMessageResponse } from './response.js';
export { toUIMessageStream, UI_INLINE_BYTES_MAX } from './stream.js';
