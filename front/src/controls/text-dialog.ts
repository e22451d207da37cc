// A text to read, copy or save.

import { button, create } from "./dom.ts";
import { download } from "./downloads.ts";

export function showText(text: string, name: string, title: string): void {
  const field = create("textarea", { attributes: { readonly: "", spellcheck: "false", "aria-label": title } });
  field.value = text;
  const copy = button("Copy", { class: "small" }, () => void copyText(text, field).then((words) => (copy.textContent = words)));
  const dialog = create(
    "dialog",
    { class: "text", attributes: { "aria-label": title } },
    create("div", { class: "head" }, create("h2", { text: title }), create("span", { class: "grow" }), copy,
      button("Save", { class: "small", title: name }, () => download(text, name)),
      button("Close", { class: "small" }, () => dialog.close())),
    field,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Where the browser forbids copying, the text is selected. */
async function copyText(text: string, field: HTMLTextAreaElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    field.select();
    return "Selected: press Ctrl + C";
  }
}
