/** The media types that both OpenAI's and Anthropic's own protocols accept. */
export const IMAGES_AND_PDF: readonly string[] = Object.freeze([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);
