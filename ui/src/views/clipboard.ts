// Copying: the browser may refuse it, to a page that was opened from a file too.

/** Whether a text is in the clipboard now. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
