// What the page offers to those who embed, test or film it: `window.polhode`.

import type { App } from "./app.ts";
import { create, requireElement } from "./controls/dom.ts";
import type { PageOptions } from "./transport/protocol.ts";

export function publish(app: App, options: PageOptions): void {
  Object.assign(window, {
    polhode: {
      get record() {
        return app.record;
      },
      /** Values of the parameters; none in a file. */
      get values() {
        return app.lab?.knobs?.values ?? {};
      },
      /** Set parameters; resolved when their motion is shown. */
      set: (values: Record<string, number>) => app.setValues(values),
      /** Go to a time, in s; resolved when it has been drawn. */
      time: (t: number) => {
        app.playback.pause();
        app.playback.seek(t);
        return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      },
    },
  });
  if (!options.only) return;
  // For pictures and films: the views alone.
  document.body.dataset["only"] = options.only;
  if (options.watched) app.choices.set({ watched: options.watched });
  if (options.caption) requireElement("views").append(create("p", { class: "film-caption", text: options.caption }));
}
