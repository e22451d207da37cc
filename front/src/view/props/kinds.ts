// Which function draws which kind of prop.

import type { PropKind } from "../stage.ts";
import type { Build } from "./base.ts";
import { rod } from "./rod.ts";

export const KINDS: { [K in PropKind]?: Build<K> } = {
  rod,
  axle: rod,
};
