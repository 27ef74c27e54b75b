/**
 * Edits of the projection as drafts that Pi keeps in its session, so that it is clean without us, too.
 *
 * One invalid draft voids everybody's, and the last edit of an entry wins: an entry that is left out already
 * gets none.
 */

/**
 * @param {any} event a boundary event
 * @param {any} ctx
 * @param {{entry: string, content: string | null}[]} edits
 * @returns {{entries: object[], missing?: string}} `missing` names an entry that cannot be edited
 */
export function draftsOf(event, ctx, edits) {
  const entries = [];
  let missing;
  for (const { entry: targetId, content } of edits) {
    if (isDraftedOut(event.entries, targetId)) continue;
    if (!isShown(event.context.contextEntries, targetId)) {
      if (!ctx.sessionManager.getEntry(targetId)) missing ??= targetId;
      continue;
    }
    const replacement = content === null ? null : { content: [{ type: "text", text: content }] };
    entries.push({ type: "context_edit", targetId, replacement });
  }
  return { entries, missing };
}

function isDraftedOut(drafts, targetId) {
  const edit = drafts.findLast((draft) => draft.type === "context_edit" && draft.targetId === targetId);
  return edit !== undefined && edit.replacement === null;
}

/** The entries of a turn are at the end: looked for from there, this does not grow with the history. */
function isShown(contextEntries, id) {
  const entry = contextEntries.findLast(({ sourceEntry }) => sourceEntry.id === id);
  return entry !== undefined && entry.messages.length > 0;
}
