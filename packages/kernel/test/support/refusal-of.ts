/** The message with which an act is refused; empty when it is not. */
export function refusalOf(act: () => unknown): string {
  try {
    act();
    return '';
  } catch (error) {
    return String(error);
  }
}
