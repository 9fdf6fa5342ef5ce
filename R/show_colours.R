# The colours of all pictures. Those that tell things apart can be distinguished by colour-blind readers.

# Nine colours for components and types (Tol's "muted" scheme), and a grey for all others.
component_colours <- c("#332288", "#CC6677", "#117733", "#88CCEE", "#AA4499", "#999933", "#44AA99", "#882255",
  "#DDCC77")
other_colour <- "#BBBBBB"

# Six colours for chains, groups and distributions (Okabe and Ito).
chain_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

signal_colour <- chain_colours[[2L]]
# Text in this hue, and text that is not first.
signal_text_colour <- "#A84A00"
quiet_text_colour <- "#555555"

# Regions of highest density from the outermost, lines of densities, bars of histograms and of amounts.
region_colours <- c("#DEEBF7", "#9ECAE1", "#4292C6", "#08519C")
density_colour <- "#08519C"
histogram_colour <- "#D9D9D9"
bar_colour <- "#4477AA"

diverging_colours <- function(count) grDevices::hcl.colors(count, "Blue-Red 3")

# The contrast of colours, from 1 to 21 (Web Content Accessibility Guidelines 2.1, section 1.4.3). Text needs 4.5.
contrast_of <- function(a, b) {
  luminance <- function(colour) {
    value <- grDevices::col2rgb(colour) / 255
    drop(c(0.2126, 0.7152, 0.0722) %*% ifelse(value <= 0.03928, value / 12.92, ((value + 0.055) / 1.055)^2.4))
  }
  a <- luminance(a)
  b <- luminance(b)
  (pmax(a, b) + 0.05) / (pmin(a, b) + 0.05)
}

text_on <- function(fill) ifelse(contrast_of("black", fill) > contrast_of("white", fill), "black", "white")

shade <- function(colour, alpha) grDevices::adjustcolor(colour, alpha)
