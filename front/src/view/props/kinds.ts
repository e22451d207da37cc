// Which function draws which kind of prop.

import type { PropKind } from "../stage.ts";
import type { Build } from "./base.ts";
import { cloud } from "./cloud.ts";
import { cones } from "./cones.ts";
import { axle, ball, bonds, box, rod } from "./solids.ts";
import { shaft, stand } from "./stand.ts";

export const KINDS: { [K in PropKind]?: Build<K> } = {
  axle,
  ball,
  bonds,
  box,
  cloud,
  cones,
  rod,
  shaft,
  stand,
};
