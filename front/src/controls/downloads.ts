// Files for the user.  A sandboxed frame, such as that of a notebook, may not hand out files.

import { create } from "./dom.ts";

/** Whether the page is in a frame that may block downloads. */
export const isFramed = (): boolean => window.self !== window.top && window.origin === "null";

export const BLOCKED =
  "This page is in a frame that may block downloads. If nothing is saved, use Python: motion.export_html(\"motion.html\") " +
  "writes this page as a file of its own, motion.export_csv(\"motion.csv\") the numbers.";

export function download(contents: Blob | string, name: string, mime = "text/plain;charset=utf-8"): void {
  const address = URL.createObjectURL(contents instanceof Blob ? contents : new Blob([contents], { type: mime }));
  const link = create("a", { attributes: { href: address, download: name, rel: "noopener" } });
  document.body.append(link);
  link.click();
  link.remove();
  // Large files are still being read when the click returns.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A name without signs that file systems dislike. */
export const fileName = (...parts: string[]): string =>
  parts.filter(Boolean).join("-").replace(/[^\p{L}\p{N}.+-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "") || "motion";
