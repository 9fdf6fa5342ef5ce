# The colours of all pictures. Those that tell things apart can be distinguished by colour-blind readers.

# Nine colours for components and types (Tol's "muted" scheme), and a grey for all others.
component_colours <- c(
  "#332288", "#CC6677", "#117733", "#88CCEE", "#AA4499", "#999933", "#44AA99", "#882255", "#DDCC77"
)
other_colour <- "#BBBBBB"

# Six colours for chains, groups and distributions (Okabe and Ito).
chain_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

# What a reader must see: a limit, values that differ, piled values.
signal_colour <- chain_colours[[2L]]

# Regions of highest density from the outermost, lines of densities, bars of histograms and of amounts.
region_colours <- c("#DEEBF7", "#9ECAE1", "#4292C6", "#08519C")
density_colour <- "#08519C"
histogram_colour <- "#D9D9D9"
bar_colour <- "#4477AA"

# From negative (blue) over zero (white) to positive (red).
diverging_colours <- function(count) grDevices::hcl.colors(count, "Blue-Red 3")
