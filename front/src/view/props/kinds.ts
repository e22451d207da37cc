// Which function draws which kind of prop.

import type { PropKind } from "../stage.ts";
import type { Build } from "./base.ts";
import { cloud } from "./cloud.ts";
import { cones } from "./cones.ts";
import { arrow, axis, target, vertical } from "./directions.ts";
import { path, polygon, text } from "./figures.ts";
import { globe } from "./globe.ts";
import { platform } from "./platform.ts";
import { axle, ball, bonds, box, rod } from "./solids.ts";
import { shaft, stand } from "./stand.ts";

export const KINDS: { [K in PropKind]: Build<K> } = {
  arrow,
  axis,
  axle,
  ball,
  bonds,
  box,
  cloud,
  cones,
  globe,
  path,
  platform,
  polygon,
  rod,
  shaft,
  stand,
  target,
  text,
  vertical,
};
