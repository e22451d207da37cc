// Which function draws which kind of prop.

import type { PropKind } from "../stage.ts";
import type { Build } from "./base.ts";
import { arrow, axis, target, vertical } from "./directions.ts";
import { path, polygon, text } from "./figures.ts";
import { globe } from "./globe.ts";
import { platform } from "./platform.ts";
import { rod } from "./rod.ts";

export const KINDS: { [K in PropKind]?: Build<K> } = {
  rod,
  axle: rod,
  polygon,
  path,
  text,
  arrow,
  target,
  vertical,
  axis,
  platform,
  globe,
};
