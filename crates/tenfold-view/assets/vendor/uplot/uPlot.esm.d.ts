// Types of the library beside it, for the check of types alone.

import uPlot from "uplot";

export default uPlot;
